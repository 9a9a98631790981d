import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';

import type { Command } from 'commander';

import { operatorIn } from '#actions/operator.ts';
import type { ActionRuntime } from '#actions/run_action.ts';
import { print } from '#entry/cli/text.ts';
import { getOrganization, withActions } from '#entry/cli/with_stores.ts';
import { growHeapSlowly } from '#entry/memory/memory.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { planJson, planText } from '#modules/configuration/decide/plan_text.ts';
import { FILE_LENGTH_MAX } from '#modules/configuration/decide/read_file.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';

interface Wanted {
  readonly org: string;
  readonly prune?: true;
  readonly plan?: string;
  readonly json?: true;
}

/** Exit status of `plan` when there are changes. */
const HAS_CHANGES = 2;
/** The operator sees all of a plan. */
const EVERYTHING = { phones: true, keys: true };
/** Bytes that a character takes at most. */
const BYTES_OF_CHARACTER = 4;

/** Adds the commands of configuration files. Their code is loaded only when one of them runs. */
export function addConfigurationCommands(program: Command): void {
  const config = program
    .command('config')
    .description('an organization as a file: see what it would change, and apply it');
  config
    .command('pull')
    .description('print all of an organization as a configuration file')
    .requiredOption('--org <id>', 'the organization')
    .action(async ({ org }: Wanted) => {
      const { pullConfiguration } = await import('#modules/configuration/pull_configuration.ts');
      process.stdout.write(await asOperator(org, (runtime, caller) => pullConfiguration(runtime, caller)));
    });
  config
    .command('plan')
    .description('print what applying a file would change; exits with 2 when something would')
    .argument('<file>', 'the configuration file')
    .requiredOption('--org <id>', 'the organization')
    .option('--prune', 'also delete what this file made and does not have any more')
    .option('--json', 'print JSON: changes, meaning, notes, notInFile, fingerprint')
    .action(async (file: string, { org, prune, json }: Wanted) => {
      const { readPlan } = await import('#modules/configuration/read_plan.ts');
      const request = await requestOf(file, prune);
      const read = await asOperator(org, (runtime, caller) => readPlan(runtime, caller, request));
      print(json, planJson(read, EVERYTHING), planText(read));
      if (read.plan.changes.length > 0) process.exitCode = HAS_CHANGES;
    });
  config
    .command('apply')
    .description('make the changes of a file, one by one; broken off, it goes on where it stopped')
    .argument('<file>', 'the configuration file')
    .requiredOption('--org <id>', 'the organization')
    .option('--prune', 'also delete what this file made and does not have any more')
    .option('--plan <fingerprint>', 'refuse if the plan is not the one with this fingerprint')
    .option('--json', 'print JSON: applied, changes, meaning, notes, notInFile, fingerprint')
    .action(async (file: string, { org, prune, plan, json }: Wanted) => {
      const { applyConfiguration } = await import('#modules/configuration/apply_plan.ts');
      const request = { ...(await requestOf(file, prune)), expects: plan };
      const done = await asOperator(org, (runtime, caller, origin) =>
        applyConfiguration(runtime, caller, origin, request),
      );
      print(json, { applied: done.applied, ...planJson(done, EVERYTHING) }, `${planText(done)}\nApplied.`);
    });
  config
    .command('schema')
    .description('print the JSON Schema of configuration files, by which editors complete them')
    .action(async () => {
      const { configurationSchema } = await import('#modules/configuration/decide/file.ts');
      process.stdout.write(`${JSON.stringify(configurationSchema(), null, 2)}\n`);
    });
}

async function asOperator<Result>(
  org: string,
  work: (runtime: ActionRuntime, caller: Caller, origin: RequestOrigin) => Promise<Result>,
): Promise<Result> {
  growHeapSlowly();
  return await withActions(async (runtime, stores, origin) => {
    return await work(runtime, operatorIn(await getOrganization(stores, org)), origin);
  });
}

async function requestOf(file: string, prune: true | undefined) {
  const { size } = await stat(file).catch(() => {
    throw new AppError('not_found', `there is no file ${file}`);
  });
  if (size > FILE_LENGTH_MAX * BYTES_OF_CHARACTER) {
    throw new AppError('invalid_input', `${file} has ${size} bytes; at most ${FILE_LENGTH_MAX} characters are read`);
  }
  return { text: await readFile(file, 'utf8'), fileName: path.basename(file), prune: prune === true };
}
