// Parts of a network that the world stores and reports but does not model: gateways, routes,
// Elastic IP addresses, associations. Every instance in a subnet reaches the internet.
import type { JsonObject } from '../../../src/api/json.ts';
import type { Table } from '../../kernel/index.ts';
import type { Tags } from '../filters.ts';
import type { Scope } from '../scope.ts';

const prefixes = {
  'internet-gateway': 'igw',
  'egress-only-internet-gateway': 'eigw',
  'gateway-attachment': 'IGW',
  'route-table': 'rtb',
  route: 'r',
  'route-table-association': 'rtbassoc',
  'nat-gateway': 'nat',
  address: 'eipalloc',
  'cidr-association': 'vpc-cidr-assoc',
  'subnet-cidr-association': 'subnet-cidr-assoc',
  'vpc-endpoint': 'vpce',
} as const;
export type NetworkRecordKind = keyof typeof prefixes;

export type NetworkRecord = {
  readonly id: string;
  readonly kind: NetworkRecordKind;
  readonly properties: JsonObject;
  readonly tags: Tags;
  /** For an Elastic IP address. */
  readonly publicIp?: string;
};

const component = 'aws.ec2.network-records';

export class NetworkRecords {
  readonly #scope: Scope;
  readonly #rows: Table<NetworkRecord>;

  constructor(scope: Scope) {
    this.#scope = scope;
    this.#rows = scope.kernel.tables.open<NetworkRecord>('aws/ec2/network-records');
  }

  of(kind: NetworkRecordKind): readonly NetworkRecord[] {
    return [...this.#rows.values()].filter((row) => row.kind === kind);
  }

  add(record: Omit<NetworkRecord, 'id' | 'publicIp'>): NetworkRecord {
    const id = this.#scope.id(component, prefixes[record.kind]);
    const random = this.#scope.kernel.random(component);
    const isAddress = record.kind === 'address';
    const publicIp = isAddress
      ? `52.${[211, 254, 254].map((n) => 1 + random.below(n)).join('.')}`
      : '';
    const row: NetworkRecord = { ...record, id, ...(isAddress ? { publicIp } : {}) };
    this.#rows.put(id, row);
    return row;
  }

  /** Values for Fn::GetAtt. */
  attributesOf({ id, kind, publicIp }: NetworkRecord): Readonly<Record<string, string>> {
    switch (kind) {
      case 'address':
        return { AllocationId: id, PublicIp: publicIp ?? '' };
      case 'internet-gateway':
        return { InternetGatewayId: id };
      case 'route-table':
        return { RouteTableId: id };
      case 'nat-gateway':
        return { NatGatewayId: id };
      default:
        return { Id: id };
    }
  }

  /** By id, or by an Elastic IP address. */
  remove(idOrAddress: string): void {
    for (const [key, row] of [...this.#rows.entries()]) {
      if (row.id === idOrAddress || row.publicIp === idOrAddress) this.#rows.delete(key);
    }
  }
}
