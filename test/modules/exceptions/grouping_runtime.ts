import type { Cipher } from '#auth/cipher.ts';
import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { ExceptionReader } from '#modules/exceptions/store/exception_reader.ts';
import { ExceptionWriter } from '#modules/exceptions/store/exception_writer.ts';
import type { World } from '#test/kit/world.ts';

/** Returns what groups the events of a world, on its stores. */
export function groupingRuntime(
  { context, clock }: Pick<World, 'context' | 'clock'>,
  eventCipher: Cipher,
  onNewOrRegressed: GroupingRuntime['onNewOrRegressed'],
): GroupingRuntime {
  return {
    db: context.db,
    eventCipher,
    clock,
    log: context.log,
    onOutbox: () => {},
    sourceMaps: context.actions.sourceMaps,
    exceptionWriter: new ExceptionWriter(context.clickhouse),
    exceptions: new ExceptionReader(context.clickhouse),
    newGroupsPerMinute: Infinity,
    onNewOrRegressed,
  };
}
