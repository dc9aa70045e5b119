// The actions that an operator may take on an update. Each shows its plan and asks for
// confirmation. The server refuses it if the plan has changed meanwhile, so two tabs never act on
// different plans.
import { useSignal } from '@preact/signals';
import type { PageAction, PageUpdate, UpdateVerb } from '../../../src/api/page.ts';
import { write } from '../connection.ts';
import { visible } from '../format.ts';
import { ownToken } from '../session.ts';
import { server } from '../store.ts';
import { Command } from './basics.tsx';
import { Dialog } from './dialog.tsx';
import { TokenField } from './sign-in.tsx';

const words: Readonly<Record<UpdateVerb, { readonly button: string; readonly ask: string }>> = {
  approve: { button: 'Approve', ask: 'Approve this update?' },
  pause: { button: 'Pause', ask: 'Pause this update?' },
  resume: { button: 'Resume', ask: 'Resume this update?' },
  stop: { button: 'Stop', ask: 'Stop this update where it is?' },
  rollback: { button: 'Roll back', ask: 'Roll this update back?' },
};
const isDangerous = (verb: UpdateVerb): boolean => verb === 'stop' || verb === 'rollback';

const Confirm = ({
  id,
  action,
  onClose,
}: {
  readonly id: string;
  readonly action: PageAction;
  readonly onClose: () => void;
}) => {
  const answer = useSignal('');
  const isBusy = useSignal(false);
  const { verb, plan, command } = action;
  const send = async (close: () => void): Promise<void> => {
    isBusy.value = true;
    try {
      await write('act', { name: id, verb, plan }, ownToken.value);
      close();
    } catch (error) {
      answer.value = error instanceof Error ? error.message : 'no answer from the server';
    }
    isBusy.value = false;
  };
  return (
    <Dialog title={words[verb].ask} onClose={onClose}>
      {(close) => (
        <>
          <ul class="plan">
            {plan.map((line) => (
              <li key={line} dir="auto">
                {visible(line)}
              </li>
            ))}
          </ul>
          <Command text={command} />
          <TokenField id="act-token" />
          {answer.value !== '' && (
            <p class="caveat" role="alert">
              {visible(answer.value)}
            </p>
          )}
          <p class="buttons">
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button
              type="button"
              class={isDangerous(verb) ? 'danger' : 'primary'}
              disabled={isBusy.value || ownToken.value === ''}
              onClick={() => void send(close)}
            >
              {words[verb].button}
            </button>
          </p>
        </>
      )}
    </Dialog>
  );
};

export const Actions = ({
  update,
  actions,
}: {
  readonly update: PageUpdate;
  readonly actions: readonly PageAction[];
}) => {
  const asked = useSignal<PageAction | undefined>(undefined);
  if (update.status !== 'InProgress') return null;
  const possible = actions.filter(({ isPossible }) => isPossible);
  if (server.value?.actions !== true) {
    return (
      <div class="buttons">
        {possible.map(({ verb, command }) => (
          <Command key={verb} text={command} />
        ))}
      </div>
    );
  }
  return (
    <div class="buttons">
      {possible.map((action) => (
        <button
          key={action.verb}
          type="button"
          class={isDangerous(action.verb) ? 'quietdanger' : ''}
          onClick={() => {
            asked.value = action;
          }}
        >
          {words[action.verb].button}
        </button>
      ))}
      {asked.value !== undefined && (
        <Confirm
          id={update.key}
          action={asked.value}
          onClose={() => {
            asked.value = undefined;
          }}
        />
      )}
    </div>
  );
};
