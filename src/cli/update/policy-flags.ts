// The flags for one update's policies, shared by `plan` and `update`. policies.ts parses them.
import type { Command } from 'commander';

export const addPolicyFlags = (command: Command): Command =>
  command
    .option(
      '--on-timeout <policy>',
      'what to do with a drain that takes longer: Fail, Skip, Quarantine, Force or Pause',
    )
    .option(
      '--drain-timeout <duration>',
      "how long a drain may take (default: the group's, or 15m)",
    )
    .option('--force-after <duration>', 'with --on-timeout Force: delay before pods are deleted')
    .option(
      '--cooldown <duration>',
      'wait between an empty node and its termination (default: 60s)',
    )
    .option(
      '--max-quarantined <nodes>',
      'with --on-timeout Quarantine: maximum quarantined nodes (default: 1)',
    )
    .option(
      '--on-shortage <policy>',
      'what to do when a zone has no capacity: Elsewhere, Minimal or Fail',
    )
    .option(
      '--shortage-wait <duration>',
      "how long to wait for capacity (default: the group's, or 5m)",
    )
    .option(
      '--auto-rollback [nodes]',
      'roll back when this many new nodes fail to join (default: 1)',
    )
    .option('--soak <duration>', 'with BLUE_GREEN: how long old nodes stay empty (default: 1h)')
    .option(
      '--batch-soak <duration>',
      'with BLUE_GREEN: how long to wait after each batch (default: 0s)',
    );
