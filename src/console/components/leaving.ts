import { createContext } from 'react';

/** Loss by leaving: of input that is stored nowhere, or of a secret that is shown only once. */
export type Loss = 'input' | 'secret';

type Ask = (loss: Loss, leave: () => void) => void;

let ask: Ask = (_loss, leave) => leave();

/** Sets how a person is asked. Before, nothing is. */
export function setAsk(how: Ask): void {
  ask = how;
}

/** Does this at once if nothing is lost by it, and otherwise only after a person has agreed. */
export function askThen(loss: Loss | undefined, leave: () => void): void {
  if (loss === undefined) leave();
  else ask(loss, leave);
}

/** Losses that closing the dialog now would cause; null outside of one. */
export const Losses = createContext<Set<{ readonly loss: Loss }> | null>(null);
