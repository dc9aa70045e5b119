// Installing our definitions into clusters in every state.
import { describe, expect, it } from 'vitest';
import { CollectingLog, TestRandom, VirtualClock } from '../../test/builders/runtime.ts';
import { FakeKube } from '../../test/builders/runtime-kube.ts';
import { customResourceDefinitions } from '../api/crds.ts';
import { objectOr } from '../api/json.ts';
import { resourceTypes } from '../api/kube.ts';
import { CrdError, covers, ensureCrds } from './crds.ts';

const type = resourceTypes.customresourcedefinitions;
const served = { conditions: [{ type: 'Established', status: 'True' }] };

const setUp = () => {
  const clock = new VirtualClock();
  const kube = new FakeKube(clock);
  const deps = { kube, clock, random: new TestRandom(), log: new CollectingLog() };
  const install = (spec: (index: number) => object, status: object) =>
    customResourceDefinitions.forEach((crd, index) => {
      kube.put(type, { name: crd.metadata.name, spec: spec(index), status });
    });
  const run = async (ms: number) => {
    const signal = new AbortController().signal;
    const outcome = ensureCrds(deps, signal).then(
      () => 'served',
      (error: unknown) => error,
    );
    await clock.advance(ms);
    return await outcome;
  };
  return { clock, kube, install, run };
};
const wantedSpec = (index: number): object => objectOr(customResourceDefinitions[index]?.spec);

describe('ensureCrds', () => {
  it('creates what is missing and waits until it is served', async () => {
    const { kube, clock, run } = setUp();
    const outcome = run(2_000);
    await clock.advance(500);
    for (const { metadata } of customResourceDefinitions) {
      const spec = objectOr(kube.peek(type, metadata.name)?.spec);
      kube.put(type, { name: metadata.name, spec, status: served });
    }
    expect(await outcome).toBe('served');
    expect(kube.count('create')).toBe(customResourceDefinitions.length);
    await clock.settle();
    expect([kube.openWatches, clock.sleeping]).toEqual([0, 0]);
  });

  it('writes nothing when they stand there already, defaults of the server included', async () => {
    const { kube, install, run } = setUp();
    install((index) => ({ ...wantedSpec(index), conversion: { strategy: 'None' } }), served);
    expect(await run(1_000)).toBe('served');
    expect([kube.count('create'), kube.count('patch')]).toEqual([0, 0]);
  });

  it('brings an older schema of the same version up to date', async () => {
    const { kube, install, run } = setUp();
    install(() => ({ versions: [{ name: 'v1alpha1', schema: {} }] }), served);
    expect(await run(1_000)).toBe('served');
    expect(kube.count('patch')).toBe(customResourceDefinitions.length);
    const name = customResourceDefinitions[0]?.metadata.name ?? '';
    expect(covers(kube.peek(type, name)?.spec, wantedSpec(0))).toBe(true);
  });

  it('refuses a definition of another version, names the remedy and writes nothing', async () => {
    const { kube, install, run } = setUp();
    install(() => ({ versions: [{ name: 'v1' }, { name: 'v1alpha1' }] }), served);
    const outcome = await run(1_000);
    expect(outcome).toBeInstanceOf(CrdError);
    expect(String(outcome)).toMatch(/nodegroups.drover.dev .*v1, v1alpha1.*run the Drover release/);
    expect(kube.count('patch')).toBe(0);
  });

  it('says which definition the server does not serve', async () => {
    const { clock, run } = setUp();
    const outcome = await run(31_000);
    expect(outcome).toBeInstanceOf(CrdError);
    expect(String(outcome)).toMatch(/nodegroups.drover.dev is installed, but .* within 30 s/);
    expect(clock.sleeping).toBe(0);
  });

  it('survives another replica that installs them too, and failing calls', async () => {
    const { kube, install, run } = setUp();
    kube.fail('get', 'Unreachable', { times: 2 });
    kube.fail('create', 'Timeout', { landed: true });
    const outcome = run(20_000);
    // The first create succeeds but is reported as failed; the other replica's creates follow.
    while (kube.count('create') === 0) await undefined;
    install(wantedSpec, served);
    expect(await outcome).toBe('served');
  });
});
