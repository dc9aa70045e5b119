// Columns of Jobs, CronJobs, revisions, webhooks, volumes and related kinds.
import type { JsonObject } from '../../../src/api/json.ts';
import {
  age,
  type Cell,
  count,
  name,
  orNone,
  type Printer,
  templateColumns,
  text,
  wide,
} from './columns.ts';
import { ageOf, humanDuration } from './human.ts';
import { at, mapAt, numberAt, objectsAt, textAt } from './read.ts';

const isTrue = (object: JsonObject, type: string): boolean =>
  objectsAt(object, 'status', 'conditions').some(
    (one) => one.type === type && one.status === 'True',
  );

const jobStatus: Cell = (job) => {
  for (const type of ['Complete', 'Failed']) if (isTrue(job, type)) return type;
  if (textAt(job, 'metadata', 'deletionTimestamp') !== '') return 'Terminating';
  if (isTrue(job, 'Suspended')) return 'Suspended';
  if (isTrue(job, 'FailureTarget')) return 'FailureTarget';
  return isTrue(job, 'SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
};

const completions: Cell = (job) => {
  const done = numberAt(job, 'status', 'succeeded');
  if (at(job, 'spec', 'completions') !== undefined) {
    return `${done}/${numberAt(job, 'spec', 'completions')}`;
  }
  const parallel = numberAt(job, 'spec', 'parallelism');
  return parallel > 1 ? `${done}/1 of ${parallel}` : `${done}/1`;
};

const duration: Cell = (job, now) => {
  const start = Date.parse(textAt(job, 'status', 'startTime'));
  if (Number.isNaN(start)) return '';
  const end = Date.parse(textAt(job, 'status', 'completionTime'));
  return humanDuration(((Number.isNaN(end) ? now : end) - start) / 1000);
};

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

const modes =
  (...path: readonly string[]): Cell =>
  (object) => {
    const list = at(object, ...path);
    const texts = Array.isArray(list) ? list.map(String) : [];
    return texts.map((mode) => shortModes[mode] ?? mode).join(',');
  };

const field =
  (...path: readonly string[]): Cell =>
  (object) =>
    textAt(object, ...path);

const volumeStatus: Cell = (object) =>
  textAt(object, 'metadata', 'deletionTimestamp') === ''
    ? textAt(object, 'status', 'phase')
    : 'Terminating';

const claimOf: Cell = (volume) => {
  const claim = mapAt(volume, 'spec', 'claimRef');
  return Object.keys(claim).length === 0
    ? ''
    : `${textAt(claim, 'namespace')}/${textAt(claim, 'name')}`;
};

const controllerOf: Cell = (object) => {
  const owner = objectsAt(object, 'metadata', 'ownerReferences').find(
    (one) => one.controller === true,
  );
  if (owner === undefined) return '<none>';
  const [group = ''] = textAt(owner, 'apiVersion').split('/');
  return `${textAt(owner, 'kind').toLowerCase()}.${group}/${textAt(owner, 'name')}`;
};

const attributesClass: Cell = (object) =>
  textAt(object, 'spec', 'volumeAttributesClassName') || '<unset>';

const defaultClass = 'storageclass.kubernetes.io/is-default-class';

const webhookColumns: Printer = [
  name,
  {
    ...text('Webhooks', () => ''),
    type: 'integer',
    cell: (object) => objectsAt(object, 'webhooks').length,
  },
  age,
];

export const batchAndStorage: Readonly<Record<string, Printer>> = {
  'batch/jobs': [
    name,
    text('Status', jobStatus),
    text('Completions', completions),
    text('Duration', duration),
    age,
    ...templateColumns('spec'),
  ],
  'batch/cronjobs': [
    name,
    text('Schedule', field('spec', 'schedule')),
    text('Timezone', (object) => orNone(textAt(object, 'spec', 'timeZone'))),
    text('Suspend', (object) => (mapAt(object, 'spec').suspend === true ? 'True' : 'False')),
    {
      ...count('Active'),
      cell: (object) => objectsAt(object, 'status', 'active').length,
    },
    text('Last Schedule', (object, now) => {
      const last = textAt(object, 'status', 'lastScheduleTime');
      return last === '' ? '<none>' : ageOf(last, now);
    }),
    age,
    ...templateColumns('spec', 'jobTemplate', 'spec'),
  ],
  'apps/controllerrevisions': [
    name,
    text('Controller', controllerOf),
    count('Revision', 'revision'),
    age,
  ],
  '/persistentvolumeclaims': [
    name,
    text('Status', volumeStatus),
    text('Volume', field('spec', 'volumeName')),
    text('Capacity', field('status', 'capacity', 'storage')),
    text('Access Modes', modes('status', 'accessModes')),
    text('StorageClass', field('spec', 'storageClassName')),
    text('VolumeAttributesClass', attributesClass),
    age,
    wide('VolumeMode', field('spec', 'volumeMode')),
  ],
  '/persistentvolumes': [
    name,
    text('Capacity', field('spec', 'capacity', 'storage')),
    text('Access Modes', modes('spec', 'accessModes')),
    text('Reclaim Policy', field('spec', 'persistentVolumeReclaimPolicy')),
    text('Status', volumeStatus),
    text('Claim', claimOf),
    text('StorageClass', field('spec', 'storageClassName')),
    text('VolumeAttributesClass', attributesClass),
    text('Reason', field('status', 'reason')),
    age,
    wide('VolumeMode', field('spec', 'volumeMode')),
  ],
  'admissionregistration.k8s.io/validatingwebhookconfigurations': webhookColumns,
  'admissionregistration.k8s.io/mutatingwebhookconfigurations': webhookColumns,
  'storage.k8s.io/storageclasses': [
    {
      ...name,
      cell: (object) => {
        const own = textAt(object, 'metadata', 'name');
        const standard = textAt(object, 'metadata', 'annotations', defaultClass) === 'true';
        return standard ? `${own} (default)` : own;
      },
    },
    text('Provisioner', field('provisioner')),
    text('ReclaimPolicy', field('reclaimPolicy')),
    text('VolumeBindingMode', field('volumeBindingMode')),
    text('AllowVolumeExpansion', (object) => String(object.allowVolumeExpansion === true)),
    age,
  ],
  'storage.k8s.io/volumeattachments': [
    name,
    text('Attacher', field('spec', 'attacher')),
    text('PV', field('spec', 'source', 'persistentVolumeName')),
    text('Node', field('spec', 'nodeName')),
    text('Attached', (object) => String(mapAt(object, 'status').attached === true)),
    age,
  ],
};
