// `npm run peers [NAME...]`: runs the stories of the peers that are there, and prints why the
// others did not run. The stories themselves stand in test/e2e, where CI runs them too.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { missing } from '../support/demo-world.ts';
import { type Peer, type PeerName, peerProgram, peers } from '../support/peers.ts';
import { askedPeers } from './asked.ts';

const root = join(import.meta.dirname, '..', '..');

/** Arguments with which each program ends at once and well. */
const probes: Readonly<Record<PeerName, readonly string[]>> = {
  'aws-node-termination-handler': ['--help'],
  'cluster-autoscaler': ['--help'],
  eksctl: ['version'],
  helm: ['version', '--short'],
  moto_server: ['--help'],
  'node-problem-detector': ['--version'],
};

const whyNot = async (name: PeerName): Promise<string | undefined> => {
  if (peers[name].stories.length === 0) return 'it has no story here, see test/peers/README.md';
  const lacks = await missing(peerProgram(name), probes[name]);
  return lacks === undefined ? undefined : `${lacks}: npm run peers:install ${name}`;
};

const stories: string[] = [];
const idle: string[] = [];
for (const name of askedPeers('peers')) {
  const peer: Peer = peers[name];
  const why = await whyNot(name);
  if (why !== undefined) idle.push(`not run: ${name} ${peer.version}, ${why}\n`);
  else stories.push(...peer.stories.map((story) => join(root, 'test', 'e2e', `${story}.e2e.ts`)));
}
if (stories.length > 0) {
  const runner = join(root, 'test', 'e2e', 'run.ts');
  const { status } = spawnSync(process.execPath, [runner, ...stories], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
process.stdout.write(idle.join(''));
