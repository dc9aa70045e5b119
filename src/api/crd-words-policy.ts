// What `kubectl explain` says of an update's configuration: sizes of a step, policies, pacing,
// hooks.
import type { Words } from './crd-words.ts';

/** Of `policies` and `updateConfig`: when a step does not succeed. */
export const updatePolicyWords: Words = {
  drain: [
    'Of one node: how long it may take, and what happens when it is not over in time.',
    {
      timeoutSeconds:
        "Seconds from its begin until a drain is not over in time; default: the group's spec.drain, which is 900, as EKS.",
      cooldownSeconds:
        'Seconds between a node being empty and its instance being terminated; default 60, as EKS.',
      onTimeout:
        'Fail ends the update (default), Skip leaves the node as it was, Quarantine leaves it cordoned, Force deletes its pods, Pause waits for somebody.',
      forceAfterSeconds: 'With Force: seconds after the timeout until pods are deleted; default 0.',
    },
  ],
  maxQuarantined:
    'With Quarantine: when more nodes than that are left so, the update fails; default 1.',
  capacity: [
    'What happens where no new node can be started in a zone.',
    {
      onShortage:
        "Elsewhere (default): such a zone's old nodes go last and are replaced where there is room; Minimal: the same, and old nodes go first where there is none anywhere; Fail: they stay and the update ends as Failed.",
      waitSeconds:
        'Seconds after the last launch that failed there until that is done; default 300.',
    },
  ],
  blueGreen: [
    'Of BLUE_GREEN: how long old nodes are kept when they are empty.',
    {
      soakSeconds:
        'Seconds from the last old node being empty until all are terminated; default 3600.',
      batchSoakSeconds:
        'Seconds after each maxUnavailable of them before the next are drained; default 0.',
    },
  ],
  rollback: [
    'Whether an update that does not succeed goes back by itself.',
    {
      auto: 'True: it does.',
      failedNewNodes: 'So many new nodes that do not join begin the way back; default 1.',
    },
  ],
};

const pacingWords: Words = {
  windows: [
    'Maintenance windows: no node is begun while none of them is open.',
    {
      cron: 'When it opens: minute, hour, day of month, month, day of week, as in a crontab.',
      durationSeconds: 'Seconds that it stays open, 60 to 604800.',
      timeZone: 'IANA name such as Europe/Berlin; default UTC.',
    },
  ],
  windowDefault: 'What holds where no window is defined: Open (default) or Closed.',
  freezes: [
    'No node is begun meanwhile, whatever windows say.',
    {
      from: 'When it begins.',
      until: 'When it ends.',
      reason: 'Why, for people.',
    },
  ],
  approval:
    'Required: nothing of an update begins before its annotation drover.dev/approved says so.',
  waves: [
    'So much is updated, then the update rests.',
    {
      percent: 'Of all nodes, those of earlier waves included.',
      soakSeconds: 'Seconds of rest from the last new node of the wave being Ready; default 0.',
      gates: 'What the next wave waits for besides: Approval, Probes.',
    },
  ],
  probes: [
    'No further node is begun while one of them does not pass.',
    {
      name: 'Its name in holds and messages.',
      http: [
        'Passes when a GET is answered so.',
        {
          url: 'What is fetched.',
          expectedStatus: 'The status of the answer; default: any of 200 to 299.',
        },
      ],
      condition: [
        'Passes when an object in the cluster has this condition.',
        {
          apiVersion: 'Of the object.',
          kind: 'Of the object.',
          namespace: 'Of the object; absent = it has none.',
          name: 'Of the object.',
          type: 'Type of the condition.',
          status: 'What it must say; default True.',
        },
      ],
      intervalSeconds: 'Seconds between two looks; default 30.',
      failureThreshold: 'So many failures in a row are told as such; default 3.',
      onFailure: 'Hold (default) waits until it passes; Fail ends the update.',
    },
  ],
};

const hookWords: Words = {
  job: [
    'Work that runs as a Job.',
    {
      namespace: 'Where the CronJob is and the Job runs.',
      cronJob: 'A CronJob, a suspended one as a rule, whose jobTemplate is run for each node.',
    },
  ],
  webhook: [
    'Work that is asked for by a POST.',
    {
      url: 'https. Plain http is called on loopback alone, and loopback where the controller may (--allow-loopback-webhooks).',
      caBundle: 'PEM in base64: who signs the certificate of the server.',
      bearerTokenSecret: [
        'Its value is sent as Authorization: Bearer; the controller needs the right to get this Secret.',
        {
          namespace: 'Of the Secret.',
          name: 'Of the Secret.',
          key: 'The key in its data; default token.',
        },
      ],
    },
  ],
  timeoutSeconds: 'Seconds it may take; default 600.',
  onFailure: 'Fail (default) ends the update; Continue goes on without it.',
};

/** Of a group's `updateConfig`, whole. */
export const updateConfigWords: Words = {
  maxUnavailable: 'So many nodes are drained at once, 1 to 100; default 1.',
  maxUnavailablePercentage: 'The same as a percentage of the nodes, rounded down, one at least.',
  updateStrategy:
    "DEFAULT and MINIMAL are EKS'; SURGE (default where the EKS API was not asked) and BLUE_GREEN are Drover's own.",
  ...updatePolicyWords,
  ...pacingWords,
  hooks: [
    'Work of your own that runs for a node; Drover waits for it.',
    {
      preDrain: ['Runs while the node is marked and keeps its pods.', hookWords],
      postDrain: [
        'Runs as soon as the drain is over; the instance is terminated after it.',
        hookWords,
      ],
      preTerminate: ['Runs when the instance would be terminated, which waits for it.', hookWords],
      postReady: ['A new node counts when it is done.', hookWords],
    },
  ],
};
