import type { Command } from 'commander';

import { secretArgument } from '#entry/cli/text.ts';
import { loadConfig, requireStores, runningConfig } from '#entry/config.ts';
import { prepareEvents, REWRITE_MS_MAX } from '#entry/migrate.ts';
import { findClickHouseFault } from '#entry/preflight.ts';
import { ConfigError } from '#kernel/config.ts';
import type { ClickHouseAddress } from '#storage/clickhouse/address.ts';
import { openClickHouse } from '#storage/clickhouse/clickhouse.ts';
import { copyTables } from '#storage/clickhouse/copy_tables.ts';

interface CopyOptions {
  readonly to: string;
  readonly cluster?: string;
  readonly caFile?: string;
}

export function addClickHouseCommands(program: Command): void {
  program
    .command('clickhouse')
    .description('points and events')
    .command('copy')
    .description(
      'copy all points and events to another ClickHouse while everything runs; run it again to copy what has changed since',
    )
    .requiredOption(
      '--to <url>',
      'the other ClickHouse, in the form of CLICKHOUSE_URL, or @FILE with a file that holds it, which ps does not show',
      secretArgument,
    )
    .option('--cluster <name>', 'its cluster, in the form of CLICKHOUSE_CLUSTER')
    .option('--ca-file <path>', 'the authority of its certificate, in the form of CLICKHOUSE_CA_FILE')
    .action(copy);
}

async function copy({ to, cluster, caFile }: CopyOptions): Promise<void> {
  const source = requireStores(await runningConfig(loadConfig()));
  // Parsed like the settings that will name it.
  const named = loadConfig({ CLICKHOUSE_URL: to, CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_CA_FILE: caFile });
  const target: ClickHouseAddress = { ...named, clickhouseUrl: to };
  await requireTarget(source, target);
  await prepareEvents(target);
  const [reader, writer] = [openClickHouse(source, REWRITE_MS_MAX), openClickHouse(target, REWRITE_MS_MAX)];
  try {
    const copied = await copyTables(reader, writer, (table, partition) => print(`${table} ${partition}`));
    for (const { table, partitions, copied: brought, different } of copied) {
      const still = different === 0 ? 'equal now' : `${different} still differ, because rows arrive: copy once more`;
      print(`${table}: ${brought} of ${partitions} partitions copied, ${still}`);
    }
  } finally {
    await Promise.all([reader.close(), writer.close()]);
  }
}

async function requireTarget(source: ClickHouseAddress, target: ClickHouseAddress): Promise<void> {
  if (target.clickhouseUrl === source.clickhouseUrl) {
    throw new ConfigError(['--to is the ClickHouse that is in use now: give the address of the other one']);
  }
  const fault = await findClickHouseFault(target, { migrates: true });
  if (fault !== null) throw new ConfigError([fault.sentence]);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
