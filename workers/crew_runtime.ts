import type { UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import type { Channel } from '#core/oncall/channel.ts';
import type { House } from '#entry/compose.ts';
import { createCipher, type Cipher } from '#auth/cipher.ts';
import type { Log } from '#kernel/log.ts';
import type { MailServer } from '#notify/post_letter.ts';
import type { Senders } from '#notify/registry.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ExceptionReader } from '#storage/clickhouse/exception_reader.ts';
import { ExceptionWriter } from '#storage/clickhouse/exception_writer.ts';
import { MetricWriter } from '#storage/clickhouse/metric_writer.ts';
import { OutdatedRows } from '#storage/clickhouse/outdated_rows.ts';
import { RuleReader } from '#storage/clickhouse/rule_reader.ts';

/** What job handlers and periodic work run on. */
export interface CrewRuntime extends UnitOfWorkRuntime {
  readonly log: Log;
  readonly senders: Senders;
  readonly configured: ReadonlySet<Channel>;
  readonly baseUrl: string;
  /** Mail to people about their accounts; null when none is configured. */
  readonly mail: MailServer | null;
  /** Opens the links of invitations that are to be mailed. */
  readonly invitationCipher: Cipher;
  /** Opens events that have waited. */
  readonly eventCipher: Cipher;
  /** The watchdog that is told that pages leave in time; undefined for none. */
  readonly heartbeatUrl: string | undefined;
  readonly clickhouse: ClickHouseClient;
  readonly metricWriter: MetricWriter;
  readonly exceptionWriter: ExceptionWriter;
  readonly exceptions: ExceptionReader;
  readonly rules: RuleReader;
  readonly outdatedRows: OutdatedRows;
}

export function crewRuntime(house: House): CrewRuntime {
  return {
    db: house.db,
    clock: house.clock,
    log: house.log,
    onOutbox: () => house.outbox.wake(),
    senders: house.senders,
    configured: new Set(house.senders.keys()),
    baseUrl: house.config.baseUrl,
    mail: house.mail,
    invitationCipher: createCipher(house.config.appSecret, 'invitations'),
    eventCipher: createCipher(house.config.appSecret, 'waiting-events'),
    heartbeatUrl: house.config.heartbeatUrl,
    clickhouse: house.clickhouse,
    metricWriter: new MetricWriter(house.clickhouse),
    exceptionWriter: new ExceptionWriter(house.clickhouse),
    exceptions: new ExceptionReader(house.clickhouse),
    rules: new RuleReader(house.clickhouse),
    outdatedRows: new OutdatedRows(house.clickhouse),
  };
}
