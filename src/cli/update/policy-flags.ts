// The flags of one update's policies, alike for what plans it and what asks for it. What they say
// is read in policies.ts.
import type { Command } from 'commander';

export const addPolicyFlags = (command: Command): Command =>
  command
    .option('--on-timeout <policy>', 'of a drain: Fail, Skip, Quarantine, Force or Pause')
    .option('--drain-timeout <duration>', "when a drain is late; default: the group's, or 15m")
    .option('--force-after <duration>', 'with --on-timeout Force: so long after that')
    .option('--cooldown <duration>', 'between empty and terminate; default: 60s')
    .option('--max-quarantined <nodes>', 'with --on-timeout Quarantine: one more fails; default: 1')
    .option('--on-shortage <policy>', 'a zone without room for nodes: Elsewhere, Minimal or Fail')
    .option(
      '--shortage-wait <duration>',
      "until a node of such a zone goes; default: the group's, or 5m",
    )
    .option('--auto-rollback [nodes]', 'back again when so many new nodes do not join; default: 1')
    .option('--soak <duration>', 'of BLUE_GREEN: old nodes are kept empty so long; default: 1h')
    .option('--batch-soak <duration>', 'of BLUE_GREEN: the same after each batch; default: 0s');
