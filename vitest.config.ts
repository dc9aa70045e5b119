// Runs every *.test.ts beside the code and under test/ except the end-to-end stories.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'world/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['test/e2e/**', 'node_modules/**'],
    testTimeout: 120_000,
    pool: 'threads',
    // vitest leaves a core free by default, which is half of a machine with two.
    maxWorkers: '100%',
  },
});
