// The three Logs Insights queries of articles 001 and 002, word for word, with the real aws CLI and
// with `drover logs query`. The tests also read log streams, events and CloudTrail records of the
// same world.
import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot =
  (await missing('aws', ['--version'])) ?? (await missing('kubectl', ['version', '--client']));

const byLambda = (resource: string): string => `filter @logStream like /^kube-apiserver-audit/
 | fields objectRef.name, objectRef.resource, @message
 | sort @timestamp asc
 | filter userAgent like 'vpcLambda' AND verb != 'get' AND verb != 'list' AND objectRef.resource == '${resource}'
 | limit 10000`;
const authMap = `filter @logStream like /^kube-apiserver-audit/
 | fields @timestamp, @message
 | sort @timestamp asc
 | filter objectRef.name == 'aws-auth' AND verb != 'get' AND verb != 'list' AND verb != 'watch'
 | limit 10000`;
const group = '/aws/eks/ironman-2022/cluster';
const agent = 'vpcLambda/v0.0.0 (linux/amd64) kubernetes/$Format';

interface Message {
  readonly verb: string;
  readonly userAgent: string;
  readonly user: { readonly username: string };
  readonly objectRef: Readonly<Record<string, string>>;
  readonly responseStatus: { readonly code: number };
  readonly requestObject?: Readonly<Record<string, unknown>>;
}
interface Story {
  readonly steps: readonly { readonly at: string; readonly kind: string }[];
  readonly findings: readonly { readonly kind: string }[];
}
interface Journal {
  readonly node: { readonly name: string };
  readonly podsTotal: number;
  readonly startedAt: string;
  readonly drainedAt: string;
}
type Fields = Readonly<Record<string, string>>;

describe('the articles’ queries, CloudWatch Logs and CloudTrail of the aws CLI', {
  skip: skipWhen('the articles’ queries', whyNot),
  timeout: 600_000,
}, () => {
  let world: ServedWorld;
  let node = '';
  const suite = suiteWorld({ args: ['--demo', '--port', '0', '--speed', '10'], unjudged: true });
  before(() => {
    world = suite.world;
  });

  const logs = async <T>(...args: readonly string[]): Promise<T> => {
    const ran = await world.aws('logs', ...args);
    assert.equal(ran.code, 0, ran.stderr);
    return JSON.parse(ran.stdout) as T;
  };
  /** Rows of a query through the API, once it is complete. */
  const queried = async (query: string): Promise<readonly Fields[]> => {
    // The world may be ahead of the wall clock.
    const range = ['--start-time', '0', '--end-time', '4000000000'];
    const begun = ['start-query', '--log-group-name', group, ...range, '--query-string', query];
    const { queryId } = await logs<{ queryId: string }>(...begun);
    const { results } = await eventually('the query is complete', async () => {
      const answer = await logs<{
        status: string;
        results: readonly (readonly { field: string; value: string }[])[];
      }>('get-query-results', '--query-id', queryId);
      return answer.status === 'Complete' ? answer : undefined;
    });
    return results.map((row) => Object.fromEntries(row.map(({ field, value }) => [field, value])));
  };
  /** The rows of aws and of `drover logs query`, which must be the same except for pointers. */
  const asked = async (query: string): Promise<readonly Fields[]> => {
    const rows = await queried(query);
    const ran = await world.drover('logs', 'query', query, '-o', 'json');
    assert.equal(ran.code, 0, ran.stderr);
    const plain = (all: readonly Fields[]) => all.map(({ '@ptr': _, ...fields }) => fields);
    assert.deepEqual(
      plain((JSON.parse(ran.stdout) as { rows: readonly Fields[] }).rows),
      plain(rows),
    );
    return rows;
  };
  const messages = (rows: readonly Fields[]): readonly Message[] =>
    rows.map((row) => JSON.parse(row['@message'] ?? '') as Message);

  it('drains a node, so that there is something to ask for', async () => {
    const wanted = ['get', 'node', '-l', 'eks.amazonaws.com/nodegroup=demo-ng'];
    node = await eventually('the node is there', async () => {
      const ran = await world.kubectl(...wanted, '-o', 'jsonpath={.items[0].metadata.name}');
      return ran.stdout === '' ? undefined : ran.stdout;
    });
    const ready = await world.kubectl(
      'wait',
      '--for=condition=Ready',
      `node/${node}`,
      '--timeout=120s',
    );
    assert.equal(ready.code, 0, ready.stderr);
    const rolled = [
      '-n',
      'kube-system',
      'rollout',
      'status',
      'deployment/coredns',
      '--timeout=120s',
    ];
    assert.equal((await world.kubectl(...rolled)).code, 0);
    const found = await world.kubectl('get', 'node', node, '-o', 'jsonpath={.spec.providerID}');
    const instance = found.stdout.split('/').at(-1) ?? '';
    const ended = await world.aws(
      ...['autoscaling', 'terminate-instance-in-auto-scaling-group', '--instance-id', instance],
      '--should-decrement-desired-capacity',
    );
    assert.equal(ended.code, 0, ended.stderr);
    await eventually('the node is gone', async () => {
      const ran = await world.kubectl('get', 'node', node);
      return /NotFound/.test(ran.stderr) ? true : undefined;
    });
  });

  it('the story of the node is that of its NodeDisruption', async () => {
    const ran = await world.drover('logs', 'story', 'node', node, '-o', 'json');
    assert.equal(ran.code, 0, ran.stderr);
    const [story] = (JSON.parse(ran.stdout) as { items: readonly Story[] }).items;
    assert.ok(story !== undefined);
    assert.deepEqual(
      story.findings.filter(({ kind }) => kind === 'order'),
      [],
    );
    const order = story.steps
      .map(({ kind }) => kind)
      .filter((kind) => /^(excl|cord|evict|del)/.test(kind));
    assert.deepEqual(
      order.filter((kind, index) => kind !== order[index - 1]),
      [...['excluded', 'cordoned', 'evicted', 'deleted']],
    );
    const journal = await world.kubectl('get', 'nodedisruption', '-o', 'json');
    const { items } = JSON.parse(journal.stdout) as { items: readonly { status: Journal }[] };
    const status = items.map((item) => item.status).find((one) => one.node.name === node);
    assert.ok(status !== undefined);
    const at = (kind: string) =>
      Date.parse(story.steps.find((step) => step.kind === kind)?.at ?? '');
    assert.equal(order.filter((kind) => kind === 'evicted').length, status.podsTotal);
    assert.ok(at('excluded') >= Date.parse(status.startedAt) && at('excluded') <= at('cordoned'));
    assert.ok(at('deleted') >= Date.parse(status.drainedAt));
    const page = await world.drover('logs', 'story', '--nodegroup', 'demo-ng', '-o', 'html');
    assert.match(page.stdout, new RegExp(`<h2>${node} of demo-ng</h2>`));
  });

  it('article 001, nodes: the label, then the cordon, by the agent, and nothing else', async () => {
    const rows = await asked(byLambda('nodes'));
    assert.deepEqual(
      rows.map((row) => [row['objectRef.name'], row['objectRef.resource']]),
      [
        [node, 'nodes'],
        [node, 'nodes'],
      ],
    );
    const [label, cordon] = messages(rows);
    assert.equal(label?.userAgent, agent);
    assert.deepEqual(label?.requestObject, {
      metadata: { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' } },
    });
    assert.deepEqual(cordon?.requestObject, { spec: { unschedulable: true } });
    assert.equal(cordon?.responseStatus.code, 200);
  });

  it('article 001, pods: evictions by the agent, each answered with 201', async () => {
    const found = messages(await asked(byLambda('pods')));
    assert.ok(found.length > 0, 'evictions');
    for (const { verb, userAgent, objectRef, responseStatus, requestObject } of found) {
      assert.deepEqual(
        [verb, objectRef.subresource, responseStatus.code],
        ['create', 'eviction', 201],
      );
      assert.equal(userAgent, agent);
      assert.equal(requestObject?.kind, 'Eviction');
    }
  });

  it('article 002, aws-auth: eks:node-manager for a managed group, the admin for a self-managed one', async () => {
    const words = ['create', 'nodegroup', '--nodes=1', '--cluster=ironman-2022'];
    for (const more of [
      ['--name=mng', '--managed'],
      ['--name=own', '--managed=false'],
    ]) {
      const ran = await world.drover(...words, ...more);
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    }
    const found = messages(await asked(authMap));
    assert.ok(found.every(({ objectRef }) => objectRef.name === 'aws-auth'));
    assert.deepEqual(
      found.filter(({ responseStatus }) => responseStatus.code === 409),
      [],
      'as the article: every row is a change',
    );
    assert.equal(found[0]?.user.username, 'eks:node-manager');
    const manager = found.findIndex(({ requestObject }) =>
      JSON.stringify(requestObject).includes('nodegroup-mng-NodeInstanceRole'),
    );
    assert.equal(found[manager]?.user.username, 'eks:node-manager');
    const admin = found.findLastIndex(({ user }) => user.username === 'kubernetes-admin');
    assert.ok(
      manager >= 0 && admin > manager,
      JSON.stringify(found.map(({ user }) => user.username)),
    );
    assert.match(JSON.stringify(found[admin]?.requestObject), /nodegroup-own-NodeInstanceRole/);
  });

  it('a query in CloudWatch has the rows of one over files', async () => {
    const range = ['--start', '0', '--end', '4000000000', '-o', 'csv'];
    const nodes = byLambda('nodes');
    for (const query of [nodes, authMap, 'stats count(*) as n by userAgent | limit 3']) {
      // The query covers finished activity only, so the log's growth does not change its result.
      const closed = query.startsWith('stats')
        ? `filter objectRef.name = "${node}" | ${query}`
        : query;
      const there = await world.drover('logs', 'query', closed, '--log-group', group, ...range);
      const here = await world.drover('logs', 'query', closed, ...range);
      assert.equal(there.code, 0, there.stderr);
      assert.ok(here.stdout.split('\n').length > 2, here.stdout);
      assert.equal(there.stdout, here.stdout);
      assert.match(there.stderr, /^\d+ rows?; \d+ of \d+ events matched \(.* scanned\)$/m);
    }
    const typo = await world.drover(
      'logs',
      'query',
      nodes,
      '--log-group',
      group.replace('2022', '2202'),
    );
    assert.equal(typo.code, 1);
    assert.match(typo.stderr, new RegExp(`did you mean ${group}\\?`));
    const stripped = await world.drover('logs', 'query', 'fields, a', '--log-group', group);
    assert.equal(stripped.code, 2);
    assert.match(
      stripped.stderr,
      /CloudWatch refuses the query: line 1, column 7: expected a field/,
    );
  });

  it('a stripped field is a syntax error with its place', async () => {
    const query = 'filter @logStream like /^kube-apiserver-audit/\n | fields, objectRef.resource';
    const ran = await world.aws(
      ...['logs', 'start-query', '--log-group-name', group, '--start-time', '0', '--end-time', '1'],
      ...['--query-string', query],
    );
    assert.match(ran.stderr, /MalformedQueryException.*line 2, column 10: expected a field/s);
    const own = await world.drover('logs', 'query', query);
    assert.equal(own.code, 2);
    assert.match(own.stderr, /line 2, column 10: expected a field or an expression, found `,`/);
  });

  it('a row leads to its event, a query is listed and stopped', async () => {
    const [row] = await queried('filter verb = "patch" | limit 1');
    const { logRecord } = await logs<{ logRecord: Fields }>(
      ...['get-log-record', '--log-record-pointer', row?.['@ptr'] ?? ''],
    );
    assert.equal(logRecord['@message'], row?.['@message']);
    assert.equal(logRecord.verb, 'patch');
    const { queries } = await logs<{ queries: readonly { status: string }[] }>(
      ...['describe-queries', '--log-group-name', group],
    );
    assert.ok(queries.length >= 4 && queries.every(({ status }) => status === 'Complete'));
    const stopped = await world.aws('logs', 'stop-query', '--query-id', 'nope');
    assert.match(stopped.stderr, /ResourceNotFoundException/);
  });

  it('streams and their events are read and filtered', async () => {
    const { logStreams } = await logs<{
      logStreams: readonly { logStreamName: string; lastEventTimestamp?: number }[];
    }>('describe-log-streams', '--log-group-name', group);
    const audit = logStreams.find(({ logStreamName }) =>
      /^kube-apiserver-audit-/.test(logStreamName),
    );
    assert.ok(audit?.lastEventTimestamp !== undefined);
    const pattern =
      '{ ($.userAgent = "vpcLambda*") && ($.objectRef.resource = "nodes") && ($.verb = "patch") }';
    const filtered = await logs<{ events: readonly { message: string }[] }>(
      ...['filter-log-events', '--log-group-name', group, '--filter-pattern', pattern],
    );
    assert.equal(filtered.events.length, 2);
    const read = await logs<{ events: readonly { message: string }[] }>(
      ...['get-log-events', '--log-group-name', group, '--limit', '3', '--start-from-head'],
      ...['--log-stream-name', audit.logStreamName],
    );
    assert.equal(read.events.length, 3);
  });

  it('CloudTrail has the termination, by its attributes and page by page', async () => {
    const by = 'AttributeKey=EventName,AttributeValue=TerminateInstanceInAutoScalingGroup';
    const ran = await world.aws('cloudtrail', 'lookup-events', '--lookup-attributes', by);
    const { Events } = JSON.parse(ran.stdout) as {
      Events: readonly { Username: string; CloudTrailEvent: string }[];
    };
    assert.equal(Events.length, 1);
    const record = JSON.parse(Events[0]?.CloudTrailEvent ?? '') as Readonly<
      Record<string, unknown>
    >;
    assert.equal(record.eventSource, 'autoscaling.amazonaws.com');
    assert.deepEqual(Object.keys(record.requestParameters as object).sort(), [
      'instanceId',
      'shouldDecrementDesiredCapacity',
    ]);
    const pages = await world.aws(
      ...['cloudtrail', 'lookup-events', '--max-items', '3', '--page-size', '1'],
      ...['--query', 'Events[].EventId', '--output', 'json'],
    );
    assert.equal(new Set(JSON.parse(pages.stdout) as readonly string[]).size, 3);
  });
});
