import { type Static, Type } from 'typebox';

import { READS_MAX } from '#modules/pages/decide/limits.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import { checkInput } from '#actions/check_input.ts';
import { type ActionRuntime, requirePermission, runAction } from '#actions/run_action.ts';
import { StrictObject } from '#kernel/action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';

const NAME_LENGTH_MAX = 100;

/** Reads that a page of the console makes at the same time. */
export const READS_INPUT = StrictObject({
  reads: Type.Array(
    StrictObject({
      action: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
      input: Type.Record(Type.String(), Type.Unknown()),
    }),
    { minItems: 1, maxItems: READS_MAX },
  ),
});

type Outcome = { readonly result: unknown } | { readonly error: unknown };

/**
 * Runs several operations that read, each as if it had been asked for by itself: with its own permission, input and
 * share of the caller's budget. One that fails leaves the others alone. Throws `invalid_input` for one that does more
 * than read, before any of them has begun.
 */
export async function runReads(
  runtime: ActionRuntime,
  getOperation: (name: string) => AnyOperation,
  caller: Caller,
  input: unknown,
  { origin, inTurn }: { origin: RequestOrigin; inTurn: <Result>(work: () => Promise<Result>) => Promise<Result> },
): Promise<Outcome[]> {
  checkInput({ input: READS_INPUT }, input);
  const { reads } = input as Static<typeof READS_INPUT>;
  const wanted = reads.map((read, index) => {
    return { input: read.input, find: findRead(getOperation, read.action, index) };
  });
  return await Promise.all(
    wanted.map(async ({ input, find }): Promise<Outcome> => {
      try {
        const operation = find();
        await requirePermission(runtime, operation, caller, origin);
        return { result: await inTurn(() => runAction(runtime, operation, caller, input, origin)) };
      } catch (error) {
        return { error };
      }
    }),
  );
}

/** Finds the operation of a read. One that a later version has removed fails by itself, once it is called. */
function findRead(getOperation: (name: string) => AnyOperation, name: string, index: number): () => AnyOperation {
  try {
    const operation = requireRead(getOperation(name), index);
    return () => operation;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unknown_action') throw error;
    return () => {
      throw error;
    };
  }
}

function requireRead(operation: AnyOperation, index: number): AnyOperation {
  const isFile = operation.consoleOnly === true && operation.sends !== undefined;
  if (operation.effect === 'read' && !isFile) return operation;
  const message = `${operation.name} is no plain read; ask for it by itself`;
  throw invalidInput([{ path: `reads[${index}].action`, message }]);
}
