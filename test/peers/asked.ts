// What the two commands of the peers share: the names on the command line, and the manifests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type PeerName, peers } from '../support/peers.ts';

export const peerNames = Object.keys(peers) as readonly PeerName[];

/** The peers named on the command line, all by default. Ends the process at an unknown name. */
export const askedPeers = (command: string): readonly PeerName[] => {
  const asked = process.argv.slice(2);
  const unknown = asked.find((name) => !peerNames.some((known) => known === name));
  if (unknown !== undefined) {
    process.stderr.write(
      `peers: there is no peer ${unknown}; there are ${peerNames.join(', ')}\n` +
        `usage: npm run ${command} [NAME...]\n`,
    );
    process.exit(2);
  }
  return asked.length === 0 ? peerNames : peerNames.filter((name) => asked.includes(name));
};

/** go.mod or requirements.txt; undefined for a peer that is built from a checkout. */
export const manifestOf = (name: PeerName): string | undefined =>
  ['go.mod', 'requirements.txt']
    .map((file) => join(import.meta.dirname, name, file))
    .find((path) => existsSync(path));
