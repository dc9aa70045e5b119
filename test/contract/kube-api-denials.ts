// Contract cases: the answer to an eviction that a validating webhook denies. On a real API server
// the webhook is an HTTPS server of the case; in the embedded world an annotation denies.
import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createPki } from '../../src/adapters/signer/index.ts';
import type { JsonObject } from '../../src/api/json.ts';
import { KubeError } from '../../src/ports/index.ts';
import { type ContractCase, type ContractEnv, eventually } from './kube-api-env.ts';

const configurations = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

interface Denial {
  readonly code?: number;
  readonly message?: string;
}

/** A webhook server that denies each request. */
const startWebhook = async (denial: Denial) => {
  const pki = await createPki(Date.now());
  const server = createServer(
    { cert: pki.server.certificate, key: pki.server.key },
    (request, response) => {
      let text = '';
      request.on('data', (part) => {
        text += String(part);
      });
      request.on('end', () => {
        const { uid } = (JSON.parse(text) as { request: { uid: string } }).request;
        const apiVersion = 'admission.k8s.io/v1';
        const answer = { uid, allowed: false, status: denial };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ apiVersion, kind: 'AdmissionReview', response: answer }));
      });
    },
  );
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/evictions`,
    caBundle: Buffer.from(pki.ca.certificate).toString('base64'),
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** The error of an eviction in a namespace where a webhook denies all of them. */
const deniedEviction = async (env: ContractEnv, denial: Denial): Promise<KubeError> => {
  const namespace = await env.namespace();
  const name = env.unique('movers');
  const { url, caBundle, stop } = await startWebhook(denial);
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'] };
  const webhook: JsonObject = {
    name: 'movers.example.com',
    clientConfig: { url, caBundle },
    rules: [{ ...rule, resources: ['pods/eviction'] }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const denies = JSON.stringify({ 'movers.example.com': denial });
  const annotations = { 'world.drover.dev/denies': denies };
  try {
    const pod = await env.pod(namespace, 'p1');
    // Without the webhook the budget would refuse: the webhook is asked first.
    await env.budget({ namespace, name: 'b', minAvailable: 1, expected: 1, healthy: 1 });
    const body = { metadata: { name, annotations }, webhooks: [webhook] };
    const made = await env.raw('POST', configurations, { body });
    assert.equal(made.code, 201, JSON.stringify(made.body));
    const ref = { namespace, name: 'p1', uid: pod.metadata.uid };
    return await eventually('the webhook denies', async () => {
      try {
        await env.api.evict(ref);
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        return error.code === 'DisruptionBudget' ? undefined : error;
      }
      throw new Error('the eviction was allowed');
    });
  } finally {
    await env.raw('DELETE', `${configurations}/${name}`);
    stop();
  }
};

const cases: Readonly<Record<string, (env: ContractEnv) => Promise<void>>> = {
  'an eviction that a webhook denies names the webhook and its words, before any budget': async (
    env,
  ) => {
    const { code, message } = await deniedEviction(env, { code: 429, message: 'it is moved' });
    assert.equal(code, 'TooManyRequests');
    assert.match(
      message,
      /admission webhook "movers.example.com" denied the request: it is moved$/,
    );
  },
  'a webhook that denies without code and words is a bad request': async (env) => {
    const { code, message } = await deniedEviction(env, {});
    assert.equal(code, 'BadRequest');
    const words = /admission webhook "movers.example.com" denied the request without explanation$/;
    assert.match(message, words);
  },
};

export const denialCases: readonly ContractCase[] = Object.entries(cases).map(([name, run]) => ({
  name,
  run,
}));
