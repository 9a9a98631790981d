import { GROUPING_VERSION, learnableMessage } from '#core/exceptions/grouping.ts';
import { bucketOf, learnMessage, type MessageTemplate, tokensOfMessage } from '#core/exceptions/message_templates.ts';
import { groupKeyOf, type SeenEvent } from '#core/exceptions/seen_events.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { holdLock } from '#storage/postgres/advisory_lock.ts';
import { anyOf, rowsOf, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { MessageTemplateEntity } from '#storage/postgres/entities/exceptions.ts';
import { GroupMergeStore } from '#storage/postgres/group_merge_store.ts';
import { prepared, type Values } from '#storage/postgres/prepared.ts';

/** A message by which alone an event is grouped. */
interface Message {
  readonly index: number;
  readonly serviceId: Id<'service'>;
  readonly key: string;
  readonly bucket: string;
  readonly tokens: readonly string[];
}

type Templates = Map<string, readonly MessageTemplate[]>;

interface Change {
  readonly serviceId: Id<'service'>;
  readonly bucket: string;
  readonly template: MessageTemplate;
  readonly absorbed: readonly string[];
}

interface LearntMessages {
  readonly keys: ReadonlyMap<number, string>;
  readonly changes: readonly Change[];
}

const LIST = prepared(
  (db, { serviceIds, buckets }: Values<{ serviceIds: readonly Id<'service'>[]; buckets: readonly string[] }>) =>
    db
      .selectFrom(rowsOf('wanted', { service_id: ['text', serviceIds], bucket: ['text', buckets] }))
      .innerJoin('message_templates as t', (join) =>
        join.onRef('t.service_id', '=', 'wanted.service_id').onRef('t.bucket', '=', 'wanted.bucket'),
      )
      .select(['t.service_id as serviceId', 't.bucket', 't.key', 't.tokens', 't.is_pinned as isPinned'])
      .orderBy('t.number'),
);

/** Of a service; a sender of nothing but new words cannot fill the database. */
const TEMPLATES_OF_SERVICE_MAX = 5_000;

/** What the messages of each service have in common: the same for every worker, because it is read from here. */
export class MessageTemplateStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The events, those that are grouped by their message alone with the key of its template. */
  async learn(events: readonly SeenEvent[], now: Temporal.Instant): Promise<readonly SeenEvent[]> {
    const messages = events.flatMap(({ serviceId, grouping }, index): Message[] => {
      const text = learnableMessage(grouping);
      if (text === null) return [];
      const tokens = tokensOfMessage(text);
      return [{ index, serviceId, key: grouping.key, bucket: bucketOf(tokens), tokens }];
    });
    if (messages.length === 0) return events;
    let learnt = learnAll(await this.#list(messages), messages);
    if (learnt.changes.length > 0) {
      // Only who changes something waits, and reads again what others have learnt meanwhile.
      const serviceIds = [...new Set(learnt.changes.map(({ serviceId }) => serviceId))].toSorted();
      for (const serviceId of serviceIds) await holdLock(this.#session, `message templates ${serviceId}`);
      learnt = learnAll(await this.#list(messages), messages);
      for (const change of learnt.changes) await this.#save(change, now);
    }
    return events.map((event, index) => {
      const key = learnt.keys.get(index);
      return key === undefined ? event : { ...event, grouping: { ...event.grouping, key } };
    });
  }

  /** The messages of a group stay its own from now on, whatever else is learnt. */
  async pin(serviceId: Id<'service'>, groupId: Id<'group'>, now: Temporal.Instant): Promise<void> {
    const group = await this.#session.db
      .selectFrom('exception_groups')
      .select(['key', 'grouping_version as version', 'grouping_parts as parts'])
      .where('id', '=', groupId)
      .executeTakeFirstOrThrow();
    const text = learnableMessage(group);
    if (text === null || group.version !== GROUPING_VERSION) return;
    const tokens = tokensOfMessage(text);
    const row = { serviceId, key: group.key, bucket: bucketOf(tokens), tokens, isPinned: true, createdAt: now };
    await this.#session.db
      .insertInto('message_templates')
      .values(toColumns(MessageTemplateEntity, row))
      .onConflict((conflict) => conflict.columns(['service_id', 'key']).doUpdateSet({ is_pinned: true }))
      .execute();
  }

  /** What the messages of the group have in common; null when they are not grouped by a template. */
  async findOfGroup(groupId: Id<'group'>): Promise<Pick<MessageTemplate, 'tokens' | 'isPinned'> | null> {
    const template = await this.#session.db
      .selectFrom('exception_groups as g')
      .innerJoin('message_templates as t', (join) =>
        join.onRef('t.service_id', '=', 'g.service_id').onRef('t.key', '=', 'g.key'),
      )
      .select(['t.tokens', 't.is_pinned as isPinned'])
      .where('g.id', '=', groupId)
      .executeTakeFirst();
    return template ?? null;
  }

  async remove(serviceId: Id<'service'>, keys: readonly string[]): Promise<void> {
    await this.#session.db
      .deleteFrom('message_templates')
      .where('service_id', '=', serviceId)
      .where('key', '=', anyOf(keys))
      .execute();
  }

  async #list(messages: readonly Message[]): Promise<Templates> {
    const buckets = [
      ...new Map(messages.map((message) => [groupKeyOf(message.serviceId, message.bucket), message])).values(),
    ];
    const rows = await LIST.rows(this.#session, {
      serviceIds: buckets.map(({ serviceId }) => serviceId),
      buckets: buckets.map(({ bucket }) => bucket),
    });
    return Map.groupBy(rows, ({ serviceId, bucket }) => groupKeyOf(serviceId, bucket));
  }

  async #save({ absorbed, ...change }: Change, now: Temporal.Instant): Promise<void> {
    await this.#write(change, now);
    if (absorbed.length === 0) return;
    const { serviceId, template } = change;
    const merged = await new GroupMergeStore(this.#session).mergeByKey(serviceId, absorbed, template.key, now);
    await this.remove(serviceId, merged);
    await this.#session.db
      .updateTable('message_templates')
      .set({ is_pinned: true })
      .where('service_id', '=', serviceId)
      .where('key', '=', anyOf(absorbed.filter((key) => !merged.includes(key))))
      .execute();
  }

  async #write({ serviceId, bucket, template }: Omit<Change, 'absorbed'>, now: Temporal.Instant): Promise<void> {
    const { key, tokens, isPinned } = template;
    const { total } = await this.#session.db
      .selectFrom('message_templates')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('service_id', '=', serviceId)
      .executeTakeFirstOrThrow();
    if (total >= TEMPLATES_OF_SERVICE_MAX && !isPinned) return;
    await this.#session.db
      .insertInto('message_templates')
      .values(toColumns(MessageTemplateEntity, { serviceId, key, bucket, tokens, isPinned, createdAt: now }))
      .onConflict((conflict) =>
        conflict.columns(['service_id', 'key']).doUpdateSet(toColumns(MessageTemplateEntity, { tokens, isPinned })),
      )
      .execute();
  }
}

/** In the order of the events, each with what those before it have taught. */
function learnAll(stored: Templates, messages: readonly Message[]): LearntMessages {
  const templates = new Map(stored);
  const keys = new Map<number, string>();
  const changes: Change[] = [];
  for (const { index, serviceId, key, bucket, tokens } of messages) {
    const place = groupKeyOf(serviceId, bucket);
    const before = templates.get(place) ?? [];
    const { template, change, absorbed } = learnMessage(before, { key, tokens });
    keys.set(index, template.key);
    if (change === 'none') continue;
    changes.push({ serviceId, bucket, template, absorbed });
    const left = before.filter((other) => !absorbed.includes(other.key));
    templates.set(
      place,
      change === 'added' ? [...left, template] : left.map((other) => (other.key === template.key ? template : other)),
    );
  }
  return { keys, changes };
}
