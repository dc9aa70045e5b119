// The health of a life's nodes as their agents report it: conditions that turn False and True,
// heartbeats, silent agents, reboots that help or do not. Chooses no node.
import type { WorldClient } from '../../../world/contracts.ts';
import type { World } from '../../../world/index.ts';
import { microsPerSecond } from '../../../world/kernel/index.ts';
import { objectOr } from '../../api/json.ts';
import type { Random } from '../../ports/index.ts';
import { nodes } from './node-causes.ts';

export interface Illness {
  readonly condition: string;
  readonly reason: string;
}

interface Report extends Illness {
  readonly node: string;
  readonly uid: string;
  readonly bootId: string;
  readonly since: string;
  heartbeatAt: number;
  /** The agent has stopped: its last report is not renewed. */
  isSilent: boolean;
  /** A false finding of many agents at once; it is removed when all faults end. */
  readonly isFalse: boolean;
}

/** The interval of EKS' agent. */
const heartbeatMicros = 300 * microsPerSecond;
/** The other reboots do not help: a hardware fault remains. */
const rebootHelpsShare = 0.7;

export class NodeHealth {
  readonly #world: World;
  readonly #random: Random;
  readonly #agent: WorldClient;
  readonly #reports = new Map<string, Report>();

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    const groups = ['system:masters', 'system:authenticated'];
    this.#agent = world.kube.as({
      user: { username: 'system:serviceaccount:kube-system:eks-node-monitoring-agent', groups },
      userAgent: 'eks-node-monitoring-agent/v1.0.0',
    });
  }

  /** Names of nodes with a finding. */
  get ill(): readonly string[] {
    return [...new Set([...this.#reports.values()].map(({ node }) => node))];
  }

  /** The agent of a node reports a finding. */
  fall(node: string, illness: Illness, more: { readonly isFalse?: boolean } = {}): void {
    const known = this.#world.kube.read(nodes, { name: node });
    if (known === undefined || this.#reports.has(`${node} ${illness.condition}`)) return;
    const { bootID } = objectOr(objectOr(known.status).nodeInfo);
    const report: Report = {
      node,
      ...illness,
      uid: known.metadata.uid,
      bootId: String(bootID),
      since: this.#now(),
      heartbeatAt: this.#world.kernel.now(),
      isSilent: false,
      isFalse: more.isFalse ?? false,
    };
    this.#reports.set(`${node} ${illness.condition}`, report);
    this.#write(report, 'False');
  }

  /** Ends every finding of a node. */
  recover(node: string): void {
    for (const [key, report] of this.#reports) {
      if (report.node !== node) continue;
      this.#reports.delete(key);
      this.#write(report, 'True');
    }
  }

  /** The agent of a node stops; its last report remains. */
  silence(node: string): void {
    for (const report of this.#reports.values()) if (report.node === node) report.isSilent = true;
  }

  /** Ends false findings and those of dead agents. */
  takeBack(): void {
    for (const report of [...this.#reports.values()]) {
      if (report.isFalse || report.isSilent) this.recover(report.node);
    }
  }

  /** Periodic work of the agents: heartbeats, and a new check after a reboot. */
  renew(): void {
    const now = this.#world.kernel.now();
    for (const [key, report] of this.#reports) {
      const node = this.#world.kube.read(nodes, { name: report.node });
      if (node === undefined || node.metadata.uid !== report.uid) {
        this.#reports.delete(key);
        continue;
      }
      const { bootID } = objectOr(objectOr(node.status).nodeInfo);
      if (String(bootID) !== report.bootId) {
        this.#reports.delete(key);
        if (this.#random.next() < rebootHelpsShare) this.#write(report, 'True');
        else this.#reports.set(key, { ...report, bootId: String(bootID), isSilent: false });
        continue;
      }
      if (report.isSilent || now - report.heartbeatAt < heartbeatMicros) continue;
      report.heartbeatAt = now;
      this.#write(report, 'False');
    }
  }

  #now(): string {
    const ms = Math.floor(this.#world.kernel.now() / 1000);
    return new Date(Math.floor(ms / 1000) * 1000).toISOString().replace('.000', '');
  }

  #write({ node, condition, reason, since }: Report, status: 'True' | 'False'): void {
    const now = this.#now();
    const one = {
      type: condition,
      status,
      reason: status === 'False' ? reason : condition,
      message: status === 'False' ? `${reason} was found` : 'no problem is found',
      lastHeartbeatTime: now,
      lastTransitionTime: status === 'False' ? since : now,
    };
    const body = { status: { conditions: [one] } };
    this.#agent.patch(nodes, { name: node }, { type: 'strategic', body, subresource: 'status' });
  }
}
