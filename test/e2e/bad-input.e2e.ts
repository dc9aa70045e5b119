// Invalid input at every entry point of `drover up`. Each gives one clear error that names the
// object, the rule and the remedy, and leaves nothing half-made.

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { defined } from '../../src/api/defined.ts';
import type { ServedWorld } from '../support/demo-world.ts';
import { type Answer, askFront, askKube, tokenOf } from '../support/raw-http.ts';
import { suiteWorld } from '../support/stories.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const settings = '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd"}}';
const tooLarge = Buffer.alloc(4 * 1024 * 1024, 'a');

describe('bad input over HTTP', { timeout: 300_000 }, () => {
  let world: ServedWorld;

  const suite = suiteWorld({ args: ['--demo', '--no-controller', '--port', '0'] });
  before(async () => {
    world = suite.world;
    assert.equal((await world.drover('world', 'advance', '30s')).code, 0);
  });

  const isStatus = (answer: Answer, code: number, words: RegExp): void => {
    assert.equal(answer.status, code, answer.text);
    const status = JSON.parse(answer.text) as Record<string, unknown>;
    assert.equal(status.kind, 'Status');
    assert.equal(status.status, 'Failure');
    assert.equal(status.code, code);
    assert.match(String(status.message), words);
    assert.doesNotMatch(answer.text, /\.ts:\d+|\bat \S+ \(/, 'no stack');
  };

  it('bodies that are no JSON, YAML or protobuf, or of another shape', async () => {
    const cases: readonly (readonly [string, string | Uint8Array, number, RegExp])[] = [
      ['application/json', '{"a":', 400, /invalid JSON in the request body/],
      ['application/json', '[]', 400, /the body of the request must be an object/],
      ['application/json', '{}', 422, /metadata\.name: Required value/],
      ['application/json', settings.replace('ConfigMap', 'Pod'), 400, /Pod in version "v1" cannot/],
      ['application/yaml', 'a: [\n', 400, /error converting YAML to JSON: /],
      ['application/yaml', '- a\n', 400, /the body of the request must be an object/],
      [
        'application/vnd.kubernetes.protobuf',
        'garbage',
        400,
        /not appear to be a protobuf message/,
      ],
      [
        'application/vnd.kubernetes.protobuf',
        'k8s\0\u0001\u0001',
        400,
        /unable to decode the prot/,
      ],
      ['text/plain', 'x', 415, /unknown format - accepted media types include: application\/json/],
      ['application/json', tooLarge, 413, /Request entity too large: limit is 3145728/],
    ];
    for (const [type, body, code, words] of cases) {
      const headers = { 'content-type': type };
      isStatus(await askKube(world, { path: configMaps, headers, body }), code, words);
    }
    const yaml = 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: fine}\n';
    const headers = { 'content-type': 'application/yaml' };
    const made = await askKube(world, { path: configMaps, headers, body: yaml });
    assert.equal(made.status, 201, 'good YAML is taken');
  });

  it('patches whose body does not fit their type', async () => {
    const path = '/api/v1/namespaces/default';
    const cases: readonly (readonly [string, string, number, RegExp])[] = [
      [
        'application/json-patch+json',
        '{"a":1}',
        400,
        /cannot unmarshal object into .*\[\]interface/,
      ],
      ['application/merge-patch+json', '[1]', 400, /cannot unmarshal array into .*map\[string\]/],
      ['application/strategic-merge-patch+json', '"x"', 400, /cannot unmarshal string into/],
      ['application/json', '{}', 415, /accepted media types include: application\/json-patch/],
      [
        'application/apply-patch+yaml',
        'a: b',
        422,
        /fieldManager: Required value: is required for apply/,
      ],
    ];
    for (const [type, body, code, words] of cases) {
      const headers = { 'content-type': type };
      isStatus(await askKube(world, { method: 'PATCH', path, headers, body }), code, words);
    }
  });

  it('query parameters, preconditions, paths and methods', async () => {
    const headers = { 'content-type': 'application/json' };
    const cases: readonly (readonly [string, string, string | undefined, number, RegExp])[] = [
      ['GET', '/api/v1/nodes?limit=x', undefined, 400, /limit must be a positive integer/],
      ['GET', '/api/v1/nodes?labelSelector=a%20in', undefined, 400, /unable to parse requirement/],
      ['GET', '/api/v1/nodes?fieldSelector=spec.no%3D1', undefined, 400, /field label not support/],
      ['GET', '/api/v1/nodes?resourceVersion=zz', undefined, 400, /resourceVersion: Invalid value/],
      ['GET', '/api/v1/nodes?continue=zz', undefined, 400, /continue key is not valid/],
      [
        'GET',
        '/api/v1/nodes?resourceVersion=9999999',
        undefined,
        504,
        /Too large resource version/,
      ],
      ['GET', '/api/v1/%zz', undefined, 400, /not valid URL encoding/],
      ['OPTIONS', '/api/v1/nodes', undefined, 405, /OPTIONS is not served here/],
      ['POST', `${configMaps}?dryRun=Some`, settings, 422, /Unsupported value: "Some"/],
      ['POST', `${configMaps}?fieldValidation=Sure`, settings, 422, /Unsupported value: "Sure"/],
      [
        'DELETE',
        `${configMaps}/kube-root-ca.crt`,
        '{"preconditions":{"uid":"x"}}',
        409,
        /UID in the/,
      ],
      [
        'DELETE',
        `${configMaps}/x`,
        '{"propagationPolicy":"Maybe"}',
        422,
        /Unsupported value: "Mayb/,
      ],
      ['GET', '/apis/nope/v1/things', undefined, 404, /could not find the requested resource/],
    ];
    for (const [method, path, body, code, words] of cases) {
      const ask = { method, path, headers, ...defined({ body }) };
      isStatus(await askKube(world, ask), code, words);
    }
    const odd = await askKube(world, { path: `${configMaps}/odd` });
    assert.equal(odd.status, 404, 'none of the refused objects was stored');
  });

  it('callers that the Kubernetes port does not know', async () => {
    const path = '/api/v1/nodes';
    const bearer = { authorization: 'Bearer forged' };
    const foreign = `127.0.0.1.evil.example`;
    isStatus(await askKube(world, { path, certificate: false }), 401, /Unauthorized/);
    isStatus(await askKube(world, { path, certificate: false, headers: bearer }), 401, /Unauth/);
    isStatus(
      await askKube(world, { path, headers: { host: foreign } }),
      403,
      /Host .* is not this/,
    );
    const origin = { origin: 'https://evil.example' };
    isStatus(await askKube(world, { path, headers: origin }), 403, /Origin .* is foreign/);
    const ready = await askKube(world, { path: '/readyz', certificate: false });
    assert.equal(ready.text, 'ok', 'health needs no certificate');
  });

  it('callers that the AWS port and world control do not know', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'Action=TerminateInstances&InstanceId.1=i-00000000000000000&Version=2016-11-15';
    const rebound = await askFront(world, { path: '/', headers: { host: 'evil.example' } });
    assert.equal(rebound.status, 403);
    assert.match(
      rebound.text,
      /Host \\"evil\.example\\" is not this listener: ask 127\.0\.0\.1:\d+/,
    );
    const headers = { ...form, origin: 'https://evil.example' };
    const browser = await askFront(world, { path: '/', headers, body });
    assert.equal(browser.status, 403);
    assert.match(browser.text, /is foreign: only pages of this listener may call it/);
    const unsigned = await askFront(world, { path: '/', headers: form, body });
    assert.equal(unsigned.status, 403);
    assert.match(unsigned.contentType, /^text\/xml/);
    assert.match(unsigned.text, /<Code>MissingAuthenticationToken<\/Code>/);
    const large = await askFront(world, { path: '/', headers: form, body: tooLarge });
    assert.equal(large.status, 413);
    for (const authorization of ['Bearer wrong', `Basic ${btoa('drover:wrong')}`, '']) {
      const path = '/drover/v1/down';
      const asked = await askFront(world, { path, headers: { authorization }, body: '{}' });
      assert.equal(asked.status, 401);
      assert.match(asked.text, /needs the token in DROVER_URL \(see `drover env`\)/);
    }
  });

  it('world control refuses what it does not understand, and injects nothing', async () => {
    const headers = { authorization: `Bearer ${tokenOf(world)}` };
    const cases: readonly (readonly [string, string, number, RegExp])[] = [
      ['advance', '{', 400, /the body is not JSON/],
      ['advance', '{}', 400, /seconds must be above 0 and at most \d+/],
      ['advance', '{"seconds":"soon"}', 400, /seconds must be above 0/],
      [
        'advance',
        '{"seconds":1,"minutes":1}',
        400,
        /unknown field minutes: this call takes seconds/,
      ],
      ['inject', '{"kind":"nope"}', 400, /no fault nope; `drover world inject --list` shows all/],
      ['inject', '{"kind":"kubelet-stop","target":{"node":"no"}}', 400, /no node no in this world/],
      [
        'inject',
        '{"kind":"kubelet-stop","target":{"group":"no"}}',
        400,
        /no node group no in this/,
      ],
      [
        'inject',
        '{"kind":"kubelet-stop","target":{"zone":"no"}}',
        400,
        /cannot be aimed with --zone/,
      ],
      [
        'inject',
        '{"kind":"no-capacity","target":{"zone":"no"}}',
        400,
        /which has eu-west-1a, eu-we/,
      ],
      [
        'inject',
        '{"kind":"no-addresses","target":{"subnet":"no"}}',
        400,
        /no subnet no in this wor/,
      ],
      ['inject', '{"kind":"instance-death"}', 400, /instance-death needs --node NAME/],
      ['clear', '{"kind":"nope"}', 400, /no fault nope/],
      ['nope', '{}', 404, /is not a route of world control/],
    ];
    for (const [route, body, code, words] of cases) {
      const answer = await askFront(world, { path: `/drover/v1/${route}`, headers, body });
      assert.equal(answer.status, code, answer.text);
      assert.match((JSON.parse(answer.text) as { error: string }).error, words);
    }
    const status = await askFront(world, { path: '/drover/v1/status', headers });
    assert.deepEqual((JSON.parse(status.text) as { faults: unknown }).faults, []);
  });

  it('commands say what is wrong, with exit code 2 for usage and 1 for what does not exist', async () => {
    const cases: readonly (readonly [string, number, RegExp])[] = [
      ['up --port x', 2, /--port takes a whole number from 0 to 65534, not x/],
      ['up --speed fast', 2, /--speed takes a number above 0 .* or max, not fast/],
      ['up --seed -1x', 2, /--seed takes a whole number/],
      ['up --colour', 2, /unknown option '--colour'/],
      ['dance', 2, /unknown command 'dance'/],
      ['world advance soon', 2, /advance takes a duration such as 30s, 15m or 2h, not soon/],
      ['world inject nope', 2, /no fault nope; `drover world inject --list` shows all/],
      ['world inject kubelet-stop --node nope', 2, /no node nope in this world/],
      [
        'world status --data-dir /nowhere',
        1,
        /\/nowhere holds no world.*start one with `drover up/,
      ],
      ['env --data-dir /nowhere', 1, /\/nowhere holds no world/],
    ];
    await Promise.all(
      cases.map(async ([line, code, words]) => {
        const ran = await world.drover(...line.split(' '));
        assert.equal(ran.code, code, `${line}: ${ran.stderr}`);
        assert.match(ran.stderr, words);
        assert.doesNotMatch(ran.stderr, /\n\s+at /, 'no stack');
      }),
    );
  });
});
