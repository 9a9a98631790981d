import type { ActionRuntime } from '#actions/run_action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { fileOf, fileText } from '#modules/configuration/decide/write_file.ts';
import { readState } from '#modules/configuration/read_plan.ts';
import { AppError } from '#kernel/errors.ts';

/** Returns all of the caller's organization as a configuration file. Phone numbers are in it. */
export async function pullConfiguration(runtime: ActionRuntime, caller: Caller): Promise<string> {
  if (!caller.permissions.has('oncall:edit')) {
    throw new AppError(
      'forbidden',
      'a configuration file holds phone numbers; pulling it needs the permission oncall:edit',
    );
  }
  return fileText(fileOf(await readState(runtime, caller), runtime.clock.now()));
}
