// Foreign and malformed messages for the fault `message-malformed`, each made from a real body. A
// controller must not act on any of them; none names an existing instance.

const transition = 'autoscaling:EC2_INSTANCE_TERMINATING';

const foreignSpotWarning = {
  version: '0',
  id: '7bf73129-1428-4cd3-a780-95db273d1602',
  'detail-type': 'EC2 Spot Instance Interruption Warning',
  source: 'aws.ec2',
  account: '999999999999',
  time: '2022-09-25T13:58:43Z',
  region: 'us-east-1',
  resources: [],
  detail: { 'instance-id': 'i-0fffffffffffffff0', 'instance-action': 'terminate' },
};

const objectCreated = {
  eventSource: 'aws:s3',
  eventName: 'ObjectCreated:Put',
  s3: { bucket: { name: 'logs' } },
};

const foreign: readonly unknown[] = [
  null,
  [],
  42,
  { Type: 'Notification', Message: '{"LifecycleTransition":' },
  { Type: 'Notification', TopicArn: 'arn:aws:sns:eu-west-1:999999999999:billing' },
  { Records: [objectCreated] },
  { LifecycleTransition: transition, EC2InstanceId: 'i-00000000000000000' },
  { LifecycleTransition: transition, EC2InstanceId: { id: 1 }, AutoScalingGroupName: 'x' },
  foreignSpotWarning,
  { version: '0', 'detail-type': 'AWS API Call via CloudTrail', source: 'aws.s3', detail: null },
];

export const brokenMessages: readonly ((body: string) => string)[] = [
  () => '',
  () => 'not json at all',
  (body) => body.slice(0, Math.floor(body.length / 2)),
  ...foreign.map((message) => () => JSON.stringify(message)),
];
