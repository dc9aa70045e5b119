// Requests to the embedded world, and the result of the last one. Contains no controls.
import { signal } from '@preact/signals';
import { read, write } from '../connection.ts';

export interface Fault {
  readonly id?: string;
  readonly kind: string;
  readonly target?: Readonly<Record<string, string>>;
  readonly since: string;
}

/** The faults that are on. */
export const worldFaults = signal<readonly Fault[]>([]);
export const worldMessage = signal('');
export const worldIsBusy = signal(false);

export const refreshWorld = async (): Promise<void> => {
  try {
    const status = await read<{ readonly faults?: readonly Fault[] }>('world');
    worldFaults.value = status.faults ?? [];
  } catch {
    // The connection badge reports the failure.
  }
};

/** Sends one request to the world; shows the reason if it is refused. */
export const askWorld = async (name: string, body: object): Promise<boolean> => {
  worldIsBusy.value = true;
  worldMessage.value = '';
  try {
    await write(name, body);
    await refreshWorld();
    return true;
  } catch (error) {
    worldMessage.value = error instanceof Error ? error.message : 'no answer from the world';
    return false;
  } finally {
    worldIsBusy.value = false;
  }
};
