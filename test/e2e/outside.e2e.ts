// Drover seen from outside, by real processes: two replicas of `drover controller`, a receiver of
// notifications over HTTP that fails at first, and Prometheus' text from each replica. The leader
// is killed between two drains.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { eventually, missing, type ServedWorld } from '../support/demo-world.ts';
import { drover } from '../support/program.ts';
import { skipWhen, suiteWorld } from '../support/stories.ts';

const whyNot = await missing('kubectl', ['version', '--client']);
const noHooks = {
  'hooks-never-run-out': 'drains by hand: no instance waits in a hook',
  'hooks-complete-when-empty': 'drains by hand: no instance waits in a hook',
  'foreign-hooks-left-alone': 'drains by hand: no instance waits in a hook',
};
const signingKey = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
}

/** The receiver answers the first request with a retryable error. */
const received: Received[] = [];
const receiver = createServer((request, response) => {
  let body = '';
  request.on('data', (part) => {
    body += String(part);
  });
  request.on('end', () => {
    const status = received.length === 0 ? 503 : 204;
    received.push({ headers: request.headers, body, status });
    response.writeHead(status).end();
  });
});

const accepted = (): readonly Received[] => received.filter(({ status }) => status < 300);
const eventOf = ({ headers, body }: Received): CloudEvent<object> =>
  HTTP.toEvent({ headers: { ...headers }, body }) as CloudEvent<object>;

interface Replica {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exited: Promise<unknown>;
}

const start = (world: ServedWorld): Replica => {
  const flags = ['--notifications-secret', 'kube-system/drover-receiver'];
  const args = [...flags, '--allow-loopback-webhooks', '--metrics-port', '0'];
  const child = spawn(process.execPath, [drover, 'controller', ...args], { env: world.env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  const exited = new Promise((resolve) => child.on('exit', resolve));
  return { child, output: () => output, exited };
};

const scrape = async ({ output }: Replica, path = '/metrics'): Promise<string> => {
  const port = await eventually('the port', async () =>
    /"serving metrics and probes".*?"port":(\d+)|"port":(\d+).*?serving metrics/.exec(output()),
  );
  return (await fetch(`http://127.0.0.1:${port?.[1] ?? port?.[2]}${path}`)).text();
};

const value = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

describe('seen from outside', {
  skip: skipWhen('metrics and notifications of two replicas', whyNot),
  timeout: 300_000,
  concurrency: 1,
}, () => {
  let world: ServedWorld;
  let nodes: readonly string[] = [];
  const replicas: Replica[] = [];
  const suite = suiteWorld({
    args: ['--demo', '--no-controller', '--port', '0'],
    judged: { settled: false, compat: 'native', exempt: noHooks },
  });
  before(async () => {
    world = suite.world;
    await new Promise<void>((resolve) => {
      receiver.listen(0, '127.0.0.1', resolve);
    });
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/drover`;
    const secret = ['create', 'secret', 'generic', 'drover-receiver', '-n', 'kube-system'];
    const keys = [`--from-literal=url=${url}`, `--from-literal=signingKey=${signingKey}`];
    assert.equal((await world.kubectl(...secret, ...keys)).code, 0);
    const listed = await world.kubectl('get', 'nodes', '-o', 'name');
    nodes = listed.stdout
      .trim()
      .split('\n')
      .map((name) => name.replace('node/', ''));
    replicas.push(start(world), start(world));
    await eventually('a leader', async () =>
      replicas.some(({ output }) => output().includes('"leading"')) ? true : undefined,
    );
  });
  after(async () => {
    for (const { child } of replicas) child.kill('SIGTERM');
    await Promise.all(replicas.map(({ exited }) => exited));
    receiver.closeAllConnections();
    receiver.close();
  });

  const drainAndHear = async (node: string, count: number): Promise<void> => {
    const drained = await world.drover('drain', node, '--no-preflight');
    assert.equal(drained.code, 0, drained.stderr);
    await eventually(`${count} notifications`, async () =>
      accepted().length >= count ? true : undefined,
    );
  };

  it('a drain is told once, in order, signed, after a refusal at first', async () => {
    await drainAndHear(nodes[0] ?? '', 2);
    assert.equal(received[0]?.headers['webhook-id'], accepted()[0]?.headers['webhook-id']);
    const events = accepted().map(eventOf);
    assert.deepEqual(
      events.map(({ type, subject }) => [type, subject]),
      [
        ['dev.drover.node.drain.started.v1', nodes[0]],
        ['dev.drover.node.drain.completed.v1', nodes[0]],
      ],
    );
    for (const { headers, body } of accepted()) {
      new Webhook(signingKey).verify(body, headers as Record<string, string>);
    }
  });

  it('the metrics count it once, in the text that promtool accepts', async () => {
    const texts = await Promise.all(replicas.map((replica) => scrape(replica)));
    const sum = (series: string): number =>
      texts.reduce((total, text) => total + (value(text, series) ?? 0), 0);
    assert.equal(sum('drover_leader'), 1);
    assert.equal(sum('drover_drains_total{cause="Manual",outcome="Drained"}'), 1);
    assert.equal(sum('drover_notifications_total{result="sent"}'), 2);
    assert.equal(sum('drover_notifications_total{result="retried"}'), 1);
    assert.ok(sum('drover_evictions_granted_total{kind="evict"}') > 0);
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: texts[0] });
    if (checked.error === undefined) assert.equal(checked.stderr.toString(), '');
    else process.stdout.write('not run: promtool check metrics (Debian: prometheus)\n');
    for (const replica of replicas) assert.match(await scrape(replica, '/healthz'), /ok/);
  });

  it('the leader is killed, and the other replica tells the next drain and nothing twice', async () => {
    const texts = await Promise.all(replicas.map((replica) => scrape(replica)));
    const leader = replicas[texts.findIndex((text) => value(text, 'drover_leader') === 1)];
    leader?.child.kill('SIGKILL');
    await drainAndHear(nodes[1] ?? '', 4);
    const ids = accepted().map(({ headers }) => headers['webhook-id']);
    assert.equal(new Set(ids).size, 4);
    assert.equal(ids.length, 4);
    const told = accepted().slice(2).map(eventOf);
    assert.deepEqual([...new Set(told.map(({ subject }) => subject))], [nodes[1]]);
  });

  it('a test event reaches the receiver, and the command says what is wrong with another', async () => {
    const before = received.length;
    const one = ['notify', 'test', 'kube-system/drover-receiver', '--allow-loopback-webhooks'];
    const accepted = await world.drover(...one);
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.match(accepted.stdout, /drover-receiver +cloudevents +Accepted +status 204/);
    assert.equal(received.length, before + 1);
    const { headers, body } = received.at(-1) ?? assert.fail();
    assert.equal(eventOf({ headers, body, status: 204 }).type, 'dev.drover.notification.test.v1');
    new Webhook(signingKey).verify(body, headers as Record<string, string>);
    const two = await world.drover('notify', 'test', 'default/none', '-o', 'json');
    assert.equal(two.code, 1);
    const { receivers } = JSON.parse(two.stdout) as { receivers: readonly object[] };
    const said = { outcome: 'Misconfigured', message: 'it does not exist' };
    assert.deepEqual(receivers, [{ secret: 'default/none', format: '-', ...said }]);
    const refused = await world.drover('notify', 'test');
    assert.match(refused.stdout, /Misconfigured .*loopback/);
  });

  it('no log of a replica has the address or the key', () => {
    for (const { output } of replicas) {
      assert.ok(!output().includes(signingKey.slice(6)) && !output().includes('/drover"'));
    }
  });
});
