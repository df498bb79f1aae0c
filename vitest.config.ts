import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: ['test/**/*.test.ts'],
          exclude: ['test/e2e/**', 'test/interop/**', 'test/fuzz/**'],
          isolate: false,
          pool: 'threads',
          // A limit for what hangs, not for what is slow on a busy machine.
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'e2e',
          sequence: { groupOrder: 1 },
          include: ['test/e2e/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'interop',
          sequence: { groupOrder: 2 },
          include: ['test/interop/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
      {
        test: {
          name: 'fuzz',
          sequence: { groupOrder: 3 },
          include: ['test/fuzz/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 600_000,
        },
      },
    ],
  },
})
