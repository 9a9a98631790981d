import { type LearnableMessage, learnableMessage, placeOfGroup } from '#modules/exceptions/decide/grouping.ts';
import {
  bucketOf,
  bucketOfSplits,
  learnMessage,
  type MessageTemplate,
  templateOf,
  tokensOfMessage,
} from '#modules/exceptions/decide/message_templates.ts';
import { groupKeyOf, type SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, holdLocks, PostgresStore, prepared, rowsOf, toColumns, type Values } from '#storage/postgres/store.ts';
import { MessageTemplateEntity } from '#storage/postgres/entities/exceptions.ts';
import { GroupMergeStore } from '#modules/exceptions/store/group_merge_store.ts';

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

/** Limit on the templates of a service, so that a sender of nothing but new words cannot fill the database. */
const TEMPLATES_OF_SERVICE_MAX = 5_000;

/**
 * Stores the common parts of the messages of each service: the same for every worker, because they are read from here.
 */
export class MessageTemplateStore extends PostgresStore {
  /**
   * The events, those that are grouped by their message alone with the key of its template, and those of a stack whose
   * message a person has split off with the key of that.
   */
  async learn(events: readonly SeenEvent[], now: Temporal.Instant): Promise<readonly SeenEvent[]> {
    const messages = messagesOf(events);
    const stacks = events.flatMap(({ serviceId, grouping: { key }, said }, index) =>
      said === undefined ? [] : [{ index, serviceId, bucket: bucketOfSplits(placeOfGroup(key)), said }],
    );
    if (messages.length + stacks.length === 0) return events;
    const stored = await this.#list([...messages, ...stacks]);
    const splits = splitsOf(stored, stacks);
    let learnt = learnAll(stored, messages);
    if (learnt.changes.length > 0) {
      // Only who changes something waits, and reads again what others have learnt meanwhile.
      await holdLocks(
        this.session,
        learnt.changes.map(({ serviceId }) => `message templates ${serviceId}`),
      );
      learnt = learnAll(await this.#list(messages), messages);
      for (const change of learnt.changes) await this.#save(change, now);
    }
    return events.map((event, index) => {
      const key = learnt.keys.get(index) ?? splits.get(index);
      return key === undefined ? event : { ...event, grouping: { ...event.grouping, key } };
    });
  }

  /** The messages of a group stay its own from now on, whatever else is learnt. */
  async pin(serviceId: Id<'service'>, groupId: Id<'group'>, now: Temporal.Instant): Promise<void> {
    const group = await this.selectFrom('exception_groups')
      .select(['key', 'grouping_parts as parts'])
      .where('id', '=', groupId)
      .executeTakeFirstOrThrow();
    const message = learnableMessage(group);
    if (message === null) return;
    await this.splitOff({ serviceId, key: group.key, message }, now);
  }

  /** Messages that say the same have this key from now on, whatever else is learnt. */
  async splitOff(
    { serviceId, key, message }: { serviceId: Id<'service'>; key: string; message: LearnableMessage },
    now: Temporal.Instant,
  ): Promise<void> {
    const tokens = tokensOfMessage(message.text);
    await this.#pin({ serviceId, key, bucket: bucketOf(tokens, message.place), tokens }, now);
  }

  /** Events of the stack that say the same have this key from now on. */
  async splitOffStack(
    { serviceId, key, message }: { serviceId: Id<'service'>; key: string; message: LearnableMessage },
    now: Temporal.Instant,
  ): Promise<void> {
    const bucket = bucketOfSplits(message.place ?? '');
    await this.#pin({ serviceId, key, bucket, tokens: tokensOfMessage(message.text) }, now);
  }

  async #pin(template: Omit<Message, 'index'>, now: Temporal.Instant): Promise<void> {
    const row = { ...template, isPinned: true, createdAt: now };
    await this.insertInto('message_templates')
      .values(toColumns(MessageTemplateEntity, row))
      .onConflict((conflict) => conflict.columns(['service_id', 'key']).doUpdateSet({ is_pinned: true }))
      .execute();
  }

  /** Returns the template of the group's messages; null when they are not grouped by a template. */
  async findOfGroup(groupId: Id<'group'>): Promise<Pick<MessageTemplate, 'tokens' | 'isPinned'> | null> {
    const template = await this.selectFrom('exception_groups as g')
      .innerJoin('message_templates as t', (join) =>
        join.onRef('t.service_id', '=', 'g.service_id').onRef('t.key', '=', 'g.key'),
      )
      .select(['t.tokens', 't.is_pinned as isPinned'])
      .where('g.id', '=', groupId)
      .executeTakeFirst();
    return template ?? null;
  }

  async remove(serviceId: Id<'service'>, keys: readonly string[]): Promise<void> {
    await this.deleteFrom('message_templates')
      .where('service_id', '=', serviceId)
      .where('key', '=', anyOf(keys))
      .execute();
  }

  async #list(messages: readonly Pick<Message, 'serviceId' | 'bucket'>[]): Promise<Templates> {
    const buckets = [
      ...new Map(messages.map((message) => [groupKeyOf(message.serviceId, message.bucket), message])).values(),
    ];
    const rows = await LIST.rows(this.session, {
      serviceIds: buckets.map(({ serviceId }) => serviceId),
      buckets: buckets.map(({ bucket }) => bucket),
    });
    return Map.groupBy(rows, ({ serviceId, bucket }) => groupKeyOf(serviceId, bucket));
  }

  async #save({ absorbed, ...change }: Change, now: Temporal.Instant): Promise<void> {
    await this.#write(change, now);
    if (absorbed.length === 0) return;
    const { serviceId, template } = change;
    const merged = await new GroupMergeStore(this.session).mergeByKey(serviceId, absorbed, template.key, now);
    await this.remove(serviceId, merged);
    await this.updateTable('message_templates')
      .set({ is_pinned: true })
      .where('service_id', '=', serviceId)
      .where('key', '=', anyOf(absorbed.filter((key) => !merged.includes(key))))
      .execute();
  }

  async #write({ serviceId, bucket, template }: Omit<Change, 'absorbed'>, now: Temporal.Instant): Promise<void> {
    const { key, tokens, isPinned } = template;
    const { total } = await this.selectFrom('message_templates')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('service_id', '=', serviceId)
      .executeTakeFirstOrThrow();
    if (total >= TEMPLATES_OF_SERVICE_MAX && !isPinned) return;
    await this.insertInto('message_templates')
      .values(toColumns(MessageTemplateEntity, { serviceId, key, bucket, tokens, isPinned, createdAt: now }))
      .onConflict((conflict) =>
        conflict.columns(['service_id', 'key']).doUpdateSet(toColumns(MessageTemplateEntity, { tokens, isPinned })),
      )
      .execute();
  }
}

interface Stack extends Pick<Message, 'index' | 'serviceId' | 'bucket'> {
  readonly said: () => LearnableMessage | null;
}

/** The keys of what people have split off, by the index of the event. */
function splitsOf(stored: Templates, stacks: readonly Stack[]): ReadonlyMap<number, string> {
  return new Map(
    stacks.flatMap(({ index, serviceId, bucket, said }): (readonly [number, string])[] => {
      const templates = stored.get(groupKeyOf(serviceId, bucket)) ?? [];
      const message = templates.length === 0 ? null : said();
      const template = message === null ? undefined : templateOf(templates, tokensOfMessage(message.text));
      return template === undefined ? [] : [[index, template.key]];
    }),
  );
}

function messagesOf(events: readonly SeenEvent[]): readonly Message[] {
  return events.flatMap(({ serviceId, grouping }, index): Message[] => {
    const message = learnableMessage(grouping);
    if (message === null) return [];
    const tokens = tokensOfMessage(message.text);
    return [{ index, serviceId, key: grouping.key, bucket: bucketOf(tokens, message.place), tokens }];
  });
}

/** Learns messages in the order of the events, each with what those before it have taught. */
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
