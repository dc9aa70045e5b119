// deploy/install.yaml, the chart with its defaults: the parts that must hold in clusters with IPv6
// alone, with one node, and without a queue. test/e2e/charts.e2e.ts compares it with helm's output.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { type JsonObject, objectOr } from '../../src/api/json.ts';

const text = readFileSync(join(import.meta.dirname, '../../deploy/install.yaml'), 'utf8');
const objects = parseAllDocuments(text).map((one) => objectOr(one.toJS()) as JsonObject);
const specOf = (kind: string): JsonObject =>
  objectOr(objects.find((one) => one.kind === kind)?.spec);
const podSpec = objectOr(objectOr(specOf('Deployment').template).spec);
const [controller = {}] = podSpec.containers as readonly JsonObject[];

describe('deploy/install.yaml', () => {
  it('serves probes and metrics at the address of the pod, of either family', () => {
    expect(controller.args).toContain('--metrics-host=$(POD_IP)');
    expect(controller.env).toContainEqual({
      name: 'POD_IP',
      valueFrom: { fieldRef: { fieldPath: 'status.podIP' } },
    });
  });

  it('lets the controller reach metadata and Pod Identity, of either family', () => {
    const reached = JSON.stringify(specOf('NetworkPolicy').egress);
    for (const cidr of [
      '169.254.169.254/32',
      '169.254.170.23/32',
      'fd00:ec2::254/128',
      'fd00:ec2::23/128',
    ]) {
      expect(reached).toContain(cidr);
    }
  });

  it('prefers two nodes, and runs both replicas on one where there is no other', () => {
    const { podAntiAffinity } = objectOr(podSpec.affinity);
    const rules = objectOr(podAntiAffinity);
    expect(Object.keys(rules)).toEqual(['preferredDuringSchedulingIgnoredDuringExecution']);
    expect(JSON.stringify(rules)).toContain('kubernetes.io/hostname');
  });
});
