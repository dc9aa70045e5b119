// Prints the CustomResourceDefinitions of src/api/crds.ts to deploy/crds, one file each: `node
// scripts/print-crds.ts`. A test (test/deploy/crds.test.ts) fails while they are out of date.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type CustomResourceDefinition, customResourceDefinitions } from '../src/api/crds.ts';

export const crdDirectory = join(import.meta.dirname, '..', 'deploy', 'crds');

export const crdFile = (crd: CustomResourceDefinition): string => `${crd.metadata.name}.yaml`;

export const crdYaml = (crd: CustomResourceDefinition): string =>
  `# Printed from src/api/crds.ts by scripts/print-crds.ts; do not edit.\n${stringify(crd, {
    lineWidth: 100,
    aliasDuplicateObjects: false,
  })}`;

if (import.meta.main) {
  mkdirSync(crdDirectory, { recursive: true });
  for (const crd of customResourceDefinitions) {
    writeFileSync(join(crdDirectory, crdFile(crd)), crdYaml(crd));
    console.log(crdFile(crd));
  }
}
