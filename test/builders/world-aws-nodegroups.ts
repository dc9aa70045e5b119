// For tests of stacks: EKS' node groups behind the world's port, with statuses that the test sets,
// and a cluster's stack whose exports eksctl's templates import.
import { AwsError } from '../../src/aws-wire/index.ts';
import type { ServiceCall } from '../../world/aws/calls.ts';
import { addStanding } from '../../world/aws/cloudformation/index.ts';
import type { TestWorld } from './world-aws.ts';

interface FakeUpdate {
  readonly id: string;
  status: 'InProgress' | 'Successful' | 'Failed';
  errors: readonly Readonly<Record<string, unknown>>[];
}

const absent = (what: string): AwsError =>
  new AwsError({ code: 'ResourceNotFoundException', message: what, httpStatus: 404 });

export class FakeNodegroups {
  readonly calls: ServiceCall[] = [];
  readonly found = new Map<string, Record<string, unknown>>();
  /** By the request's token, with which EKS recognizes repeated requests. */
  readonly updates = new Map<string, FakeUpdate>();

  answer = async (call: ServiceCall): Promise<unknown> => {
    this.calls.push(call);
    const { clusterName, nodegroupName, clientRequestToken } = call.input as Record<string, string>;
    const name = `${clusterName}/${nodegroupName}`;
    if (call.operation === 'CreateNodegroup') {
      if (!this.found.has(name)) {
        this.found.set(name, { clusterName, nodegroupName, status: 'CREATING' });
      }
      return { nodegroup: this.found.get(name) };
    }
    if (call.operation.startsWith('UpdateNodegroup')) return this.#update(clientRequestToken ?? '');
    if (call.operation === 'DescribeUpdate') return this.#describeUpdate(call);
    if (call.operation.endsWith('Resource')) return {};
    const found = this.found.get(name);
    if (found === undefined) throw absent(`No node group found for name: ${nodegroupName}.`);
    if (call.operation === 'DeleteNodegroup') found.status = 'DELETING';
    return { nodegroup: found };
  };

  #update(token: string): unknown {
    const known = this.updates.get(token);
    const update = known ?? { id: `u${this.updates.size}`, status: 'InProgress', errors: [] };
    this.updates.set(token, update);
    return { update };
  }

  #describeUpdate({ input }: ServiceCall): unknown {
    const update = [...this.updates.values()].find((one) => one.id === input.updateId);
    if (update === undefined) throw absent(`No update found for ID: ${input.updateId}`);
    return { update };
  }

  /** The most recently started update. */
  get latest(): FakeUpdate {
    const update = [...this.updates.values()].at(-1);
    if (update === undefined) throw new Error('no update has begun');
    return update;
  }

  sent(operation: string): readonly ServiceCall[] {
    return this.calls.filter((one) => one.operation === operation);
  }
}

/** Like `advance`, with time for asynchronous answers of the port. */
export const live = async (world: TestWorld, seconds: number): Promise<void> => {
  for (let i = 0; i < seconds * 4; i++) {
    world.advance(0.25);
    await new Promise((resolve) => setImmediate(resolve));
  }
};

/** A stack whose exports eksctl's templates import. */
export const clusterStack = (world: TestWorld): void => {
  const subnets = world.foundation.publicSubnets.map((one) => one.subnetId).join(',');
  const outputs = { SubnetsPublic: subnets, ClusterSecurityGroupId: 'sg-1', VPC: 'vpc-1' };
  addStanding(world.parts, {
    name: 'eksctl-c-cluster',
    template: {
      Resources: { VPC: { Type: 'AWS::EC2::VPC' } },
      Outputs: Object.fromEntries(
        Object.entries(outputs).map(([key, Value]) => [
          key,
          { Value, Export: { Name: `eksctl-c-cluster::${key}` } },
        ]),
      ),
    },
    tags: {},
    resources: { VPC: { physicalId: 'vpc-1' } },
  });
};
