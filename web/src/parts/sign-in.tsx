// The page for a user who is not signed in: how to open it again, or a form for a token.
import { useSignal } from '@preact/signals';
import { problem, signIn, signInWith } from '../connection.ts';
import { visible } from '../format.ts';
import { ownToken } from '../session.ts';

export const TokenField = ({ id }: { readonly id: string }) => (
  <div class="field">
    <label for={id}>Your token</label>
    <input
      id={id}
      type="password"
      autocomplete="off"
      spellcheck={false}
      value={ownToken.value}
      onInput={(event) => {
        ownToken.value = event.currentTarget.value.trim();
      }}
    />
  </div>
);

const Form = () => {
  const isBusy = useSignal(false);
  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    isBusy.value = true;
    await signInWith(ownToken.value);
    isBusy.value = false;
  };
  return (
    <form onSubmit={(event) => void send(event)}>
      <TokenField id="sign-in-token" />
      <p class="buttons">
        <button type="submit" class="primary" disabled={isBusy.value}>
          Sign in
        </button>
      </p>
      <p class="quiet">
        Drover asks the API server whose token it is, and whether you may list nodes, pods, budgets
        and the objects of drover.dev. The session lasts an hour at most.
      </p>
    </form>
  );
};

export const SignIn = () => (
  <div class="refused">
    <h1>{signIn.value === 'token' ? 'Sign in' : 'This page needs its link'}</h1>
    <p role="alert">{visible(problem.value)}</p>
    {signIn.value === 'token' ? (
      <Form />
    ) : (
      <p>
        <code>npx --no drover page</code>
      </p>
    )}
  </div>
);
