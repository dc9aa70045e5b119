// Pods on Windows nodes: which get an address, the event for those without one, and start times.
import { expect, it } from 'vitest';
import type { JsonObject } from '../../../src/api/json.ts';
import { resources } from '../actors/index.ts';
import { SmallWorld } from '../controllers/small-world.ts';
import { nodeReleases } from './index.ts';

const windows = nodeReleases.windows('v1.32.9-eks-113cf36');

const aWorld = (): SmallWorld => {
  const world = new SmallWorld({ kubelets: { releaseOf: () => windows } });
  world.ready(1);
  return world;
};

const add = (world: SmallWorld, name: string, spec: JsonObject): void => {
  const metadata = { name, namespace: 'demo' };
  const containers = [{ name: 'iis', image: 'mcr.microsoft.com/windows/servercore/iis' }];
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers, ...spec } };
  world.must(world.admin.create(resources.pods, 'demo', pod));
};
const isRunning = (world: SmallWorld, name: string): boolean =>
  world
    .pods()
    .some(({ metadata, status }) => metadata.name === name && status?.phase === 'Running');

const allow = (world: SmallWorld, value: string): void => {
  const metadata = { name: 'amazon-vpc-cni', namespace: 'kube-system' };
  const data = { 'enable-windows-ipam': value };
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  world.must(world.admin.create(resources.configmaps, 'kube-system', map));
};
const onWindows = { nodeSelector: { 'kubernetes.io/os': 'windows' } };
const required = (values: readonly string[]): JsonObject => {
  const matchExpressions = [{ key: 'kubernetes.io/os', operator: 'In', values: [...values] }];
  const terms = { nodeSelectorTerms: [{ matchExpressions }] };
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: terms } } };
};

it('gives no pod an address before the ConfigMap says so, and only those made afterwards', () => {
  const world = aWorld();
  add(world, 'early', onWindows);
  world.advance(60);
  expect(isRunning(world, 'early')).toBe(false);
  expect(world.events('FailedCreatePodSandBox')[0]).toMatch(
    /^Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "[0-9a-f]{64}": plugin type="vpc-bridge" name="vpc" failed \(add\): failed to parse Kubernetes args: failed to get pod IP address early: error executing k8s connector: error executing connector binary: exit status 1 with execution error: pod early does not have label vpc\.amazonaws\.com\/PrivateIPv4Address$/,
  );
  allow(world, 'true');
  add(world, 'late', onWindows);
  // Article 003 waited about a minute and a half for IIS.
  const seconds = world.until(120, () => isRunning(world, 'late'));
  expect(seconds).toBeGreaterThan(80);
  expect(isRunning(world, 'early')).toBe(false);
  add(world, 'again', onWindows);
  expect(world.until(30, () => isRunning(world, 'again'))).toBeLessThan(10);
});

it.each([
  ['asks for Windows by affinity', 'true', required(['windows']), true],
  ['says nothing of Windows', 'true', {}, false],
  ['would run on both', 'false', required(['linux', 'windows']), false],
  ['runs on the host network', 'false', { ...onWindows, hostNetwork: true }, true],
])('of a pod that %s with the switch at "%s"', (_name, value, spec, runs) => {
  const world = aWorld();
  allow(world, value);
  add(world, 'p', spec);
  world.advance(150);
  expect(isRunning(world, 'p')).toBe(runs);
});
