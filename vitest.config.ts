// Runs every *.test.ts beside the code and under test/ except the end-to-end stories, in three
// projects. Files of the rooms that compute alone share a worker and its modules (pure); files that
// touch the process, sockets or disks have a worker each (own). The sequences, whole lives of groups
// in virtual time, take twice as long as all others and have a command of their own.
import { defineConfig } from 'vitest/config';

const pure = [
  'src/{api,aws-wire,controllers,core,formats,insights,page,runtime}/**/*.test.ts',
  'world/**/*.test.ts',
  'test/insights/**/*.test.ts',
];
const sequences = 'test/sequences/**/*.test.ts';
const all = ['src/**/*.test.ts', 'world/**/*.test.ts', 'test/**/*.test.ts'];
const common = { testTimeout: 120_000, pool: 'threads' as const };

export default defineConfig({
  test: {
    // vitest leaves a core free by default, which is half of a machine with two.
    maxWorkers: '100%',
    projects: [
      { test: { ...common, name: 'pure', isolate: false, include: pure } },
      { test: { ...common, name: 'sequences', isolate: false, include: [sequences] } },
      {
        test: {
          ...common,
          name: 'own',
          include: all,
          exclude: [...pure, sequences, 'test/e2e/**', 'node_modules/**'],
        },
      },
    ],
  },
});
