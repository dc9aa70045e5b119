// The columns and width of `kubectl get` for Drover's objects, without options.
import { describe, expect, it } from 'vitest';
import { customResourceDefinitions } from '../../src/api/crds.ts';
import { objectOr } from '../../src/api/json.ts';

const columnsOf = (name: string): readonly string[] => {
  const crd = customResourceDefinitions.find(({ metadata }) => metadata.name === name);
  const { versions } = objectOr(crd?.spec);
  const { additionalPrinterColumns: columns } = objectOr(Object.values(versions ?? {})[0]);
  return Object.values(columns ?? {})
    .map(objectOr)
    .filter(({ priority = 0 }) => priority === 0)
    .map(({ name: column }) => String(column));
};

describe('kubectl get nodegroups', () => {
  it('shows what is wrong with a group, within 120 columns', () => {
    const columns = columnsOf('nodegroups.drover.dev');
    expect(columns).toContain('Issue');
    // Usual maximum lengths; kubectl separates columns by three blanks.
    const longest: Readonly<Record<string, string>> = {
      Name: 'ng1-public-ssh',
      Status: 'CREATE_FAILED',
      Release: '1.32.9-20261102',
      Issue: 'InsufficientFreeAddresses',
    };
    const widths = ['Name', ...columns].map((name) =>
      Math.max(name.length, longest[name]?.length ?? 0),
    );
    expect(widths.reduce((sum, width) => sum + width + 3, 0)).toBeLessThanOrEqual(120);
  });
});
