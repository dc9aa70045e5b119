// The faults of `drover world inject`, each with its targets. Shows the world's message for a
// refused fault.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { read } from '../connection.ts';
import { visible } from '../format.ts';
import { Dialog } from '../parts/dialog.tsx';
import { tables } from '../store.ts';
import { askWorld, worldMessage } from './ask.ts';

interface Kind {
  readonly what: string;
  readonly targets: readonly string[];
}

/** Values that the page knows for a target. */
const known = (target: string): readonly string[] => {
  const nodes = tables.node.all.peek();
  switch (target) {
    case 'node':
      return nodes.map(({ key }) => key);
    case 'group':
      return tables.group.all.peek().map(({ key }) => key);
    case 'zone':
      return [...new Set(nodes.flatMap(({ zone }) => zone ?? []))].sort();
    case 'type':
      return [...new Set(nodes.flatMap(({ type }) => type ?? []))].sort();
    case 'fault':
      return ['io-error', 'read-only', 'soft-lockup', 'xid'];
    default:
      return [];
  }
};

const TargetField = ({
  target,
  change,
}: {
  readonly target: string;
  readonly change: (value: string) => void;
}) => {
  const values = known(target);
  const id = `target-${target}`;
  return (
    <div class="field">
      <label for={id}>{target}</label>
      {values.length === 0 ? (
        <input id={id} onInput={(event) => change(event.currentTarget.value)} />
      ) : (
        <select id={id} onChange={(event) => change(event.currentTarget.value)}>
          <option value="">any</option>
          {values.map((value) => (
            <option key={value} value={value}>
              {visible(value)}
            </option>
          ))}
        </select>
      )}
    </div>
  );
};

export const FaultDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const kinds = useSignal<Readonly<Record<string, Kind>>>({});
  const chosen = useSignal('');
  const target = useSignal<Readonly<Record<string, string>>>({});
  const problem = useSignal('');
  useEffect(() => {
    read<{ readonly kinds: Readonly<Record<string, Kind>> }>('faults').then(
      (answer) => {
        kinds.value = answer.kinds;
        chosen.value = Object.keys(answer.kinds)[0] ?? '';
      },
      () => {
        problem.value = 'no answer from the world';
      },
    );
  }, [kinds, chosen, problem]);
  const kind = kinds.value[chosen.value];
  const inject = async (close: () => void): Promise<void> => {
    const aimed = Object.fromEntries(
      Object.entries(target.value).filter(([, value]) => value !== ''),
    );
    const isDone = await askWorld('inject', { kind: chosen.value, target: aimed });
    if (isDone) close();
    else problem.value = worldMessage.value;
  };
  return (
    <Dialog title="Inject a fault" onClose={onClose}>
      {(close) => (
        <>
          <label class="field">
            kind
            <select
              value={chosen.value}
              onChange={(event) => {
                chosen.value = event.currentTarget.value;
                target.value = {};
              }}
            >
              {Object.keys(kinds.value).map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <p class="quiet">{kind?.what}</p>
          {kind?.targets.map((name) => (
            <TargetField
              key={`${chosen.value} ${name}`}
              target={name}
              change={(value) => {
                target.value = { ...target.value, [name]: value };
              }}
            />
          ))}
          {problem.value !== '' && <p class="caveat">{visible(problem.value)}</p>}
          <p class="buttons">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button type="button" class="danger" onClick={() => void inject(close)}>
              Inject
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
};
