// Prints deploy/install.yaml, the chart drover with its defaults as plain manifests, with the real
// helm (test/peers). test/e2e/charts.e2e.ts fails until it was run: `node
// scripts/print-install.ts`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { charts, rendered } from '../test/support/helm.ts';

const header = '# Printed from deploy/charts/drover by scripts/print-install.ts; do not edit.\n';
writeFileSync(join(charts, '..', 'install.yaml'), `${header}${await rendered()}`);
