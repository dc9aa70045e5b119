// SECURITY.md matches the repository: the files of rights, and how dependencies are pinned.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { objectOr } from '../../src/api/json.ts';
import {
  cloudOperations,
  logOperations,
  provisioningOperations,
} from '../../src/aws-cloud/index.ts';

const root = join(import.meta.dirname, '../..');
const read = (name: string): string => readFileSync(join(root, name), 'utf8');
const json = (name: string) => objectOr(JSON.parse(read(name)));

describe('SECURITY.md', () => {
  it('says of each file of rights what it amounts to', () => {
    const files = readdirSync(join(root, 'deploy')).filter((name) => name.endsWith('.yaml'));
    expect(files.filter((name) => !read('SECURITY.md').includes(name))).toEqual([]);
  });

  it('names every AWS call of the controller', () => {
    const rows = Object.entries(cloudOperations).map(
      ([service, names]) => `| \`${service}\` | ${names.map((name) => `\`${name}\``).join(' ')} |`,
    );
    expect(read('SECURITY.md')).toContain(`\n${rows.join('\n')}\n`);
  });

  it('is about calls that the mapping makes', () => {
    const folder = 'src/aws-cloud';
    const files = readdirSync(join(root, folder));
    const code = files.map((name) => read(`${folder}/${name}`)).join('\n');
    const tables = [cloudOperations, provisioningOperations, logOperations];
    const names = tables.flatMap((table) => Object.values(table).flat());
    expect(names.length).toBeGreaterThan(60);
    expect(names.filter((name) => !code.includes(`'${name}'`))).toEqual([]);
  });

  it('is true of versions: each exact, each package with its hash, no install scripts', () => {
    const { dependencies, devDependencies, optionalDependencies } = json('package.json');
    const versions = [dependencies, devDependencies, optionalDependencies].flatMap((all) =>
      Object.entries(objectOr(all)),
    );
    expect(versions.length).toBeGreaterThan(20);
    expect(
      versions.filter(([, version]) => !/^\d+\.\d+\.\d+[\w.-]*$/.test(String(version))),
    ).toEqual([]);
    const packages = Object.entries(objectOr(json('package-lock.json').packages));
    const unhashed = packages.filter(([name, one]) => {
      const { integrity, optional, dev } = objectOr(one);
      return name !== '' && integrity === undefined && !(optional === true && dev === true);
    });
    expect(unhashed.map(([name]) => name)).toEqual([]);
    const scripted = packages.filter(([, one]) => objectOr(one).hasInstallScript === true);
    expect(scripted.map(([name]) => name)).toEqual([]);
    expect(read('.npmrc')).toMatch(/^ignore-scripts=true$/m);
  });
});
