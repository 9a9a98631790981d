import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { linkChatAccount } from '#modules/places/link_chat_account.ts';
import { beginChatLink, createPlace, listPlaces } from '#modules/places/operations/places.ts';
import { listPlaceDeliveries, testPlace } from '#modules/places/operations/deliveries.ts';
import { inUnitOfWork } from '#modules/stores.ts';
import {
  ARCHIVED_CHANNEL,
  type ChatVendors,
  MISSING_CHAT,
  placeSettings,
  startChatVendors,
} from '#test/kit/programs/chat_vendors.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';

const TITLE = '@everyone <b>*latency*</b> https://evil.example';

let vendors: ChatVendors;
let w: StaffedWorld;
let incidentId: string;

beforeAll(async () => {
  vendors = await startChatVendors();
});
afterAll(() => vendors.close());

beforeEach(async () => {
  vendors.removeMessages();
  const settings = { discordApiBase: `${vendors.url}/discord`, telegramApiBase: `${vendors.url}/telegram` };
  w = await staffedWorld({ settings });
});

const asOwner = (operation: Parameters<typeof runOperation>[1], input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

const ALL = [{ serviceId: null, teamId: null, atLeast: null }];

async function makePlace(kind: string, settings: object): Promise<string> {
  return (await asOwner(createPlace, { kind, name: kind, settings, routes: ALL })).place.placeId;
}

async function trigger(title = TITLE): Promise<void> {
  const [teamId, anna] = await w.staff.teamOf('Anna');
  const step = { channels: ['sms'] as const, targetUserIds: [anna.userId], useSchedule: false };
  const alert = await w.staff.alert(teamId, [
    { afterMinutes: 0, ...step },
    { afterMinutes: 15, ...step },
  ]);
  incidentId = await alert.trigger(title);
  await w.runUntilIdle();
}

/** Deliveries to a place, as people see them. */
const listed = async (placeId: string) => JSON.stringify((await asOwner(listPlaceDeliveries, { placeId })).deliveries);

const statusOf = async () => (await w.expectOk('get_incident', { incidentId })).status as string;

interface Answered {
  readonly status: number;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into bodies of any shape
  readonly body: any;
}

async function send(placeId: string, kind: string, payload: string, headers: object): Promise<Answered> {
  const answer = await w.app.inject({
    method: 'POST',
    url: `/api/places/${placeId}/${kind}`,
    headers: { ...headers },
    payload,
  });
  return { status: answer.statusCode, body: answer.body === '' ? {} : answer.json() };
}

/** Sends an interaction that Discord has signed. */
const interact = async (placeId: string, interaction: object, { age = 0, forged = false } = {}) => {
  const body = JSON.stringify(interaction);
  const timestamp = String(Math.floor(w.clock.now().epochMilliseconds / 1_000) - age);
  const signature = vendors.signed(timestamp, forged ? `${body} ` : body);
  return await send(placeId, 'discord', body, { 'x-signature-timestamp': timestamp, 'x-signature-ed25519': signature });
};

/** Returns a code of a responder of this name. */
async function codeOf(kind: string, name = 'Bram'): Promise<string> {
  const { userId } = await w.given.user({ name });
  return (await runOperation(w, beginChatLink, memberCaller(w.orgId, userId, 'responder'), { kind })).code;
}

const notes = () => w.context.db.sql.rows<{ body: string }>('select body from incident_notes order by created_at');

const shown = () => JSON.stringify(vendors.messages.map(({ body }) => body));

describe('Microsoft Teams', () => {
  test('gets a card for each state, with what senders wrote as plain text', async () => {
    await makePlace('teams', placeSettings(vendors, 'teams'));
    await trigger();
    const { content } = vendors.messages[0]!.body.attachments[0];
    expect(content).toMatchObject({ type: 'AdaptiveCard', version: '1.4' });
    expect(content.body[0].inlines[0].text).toBe('@\u200Beveryone <b>*latency*</b> https:// evil(.)example');
    await w.expectOk('resolve_incident', { incidentId });
    await w.runUntilIdle();
    expect(vendors.messages).toHaveLength(2);
    expect(JSON.stringify(await asOwner(listPlaces, {}))).not.toContain('sig=secret');
  });
});

describe('ntfy', () => {
  test('gets a notification with its priority and a link', async () => {
    const placeId = await makePlace('ntfy', placeSettings(vendors, 'ntfy'));
    await trigger();
    expect(await listed(placeId)).not.toContain('ops');
    expect(vendors.messages[0]?.body).toMatchObject({
      topic: 'ops',
      title: '@\u200Beveryone <b>*latency*</b> https:// evil(.)example',
      priority: 4,
      actions: [{ action: 'view', label: 'Open', url: expect.stringContaining(incidentId) }],
    });
  });
});

describe('Mattermost', () => {
  const form = (text: string, token = 'command-token') =>
    new URLSearchParams({ token, command: '/oncall', text, user_id: 'u1', user_name: 'bram' }).toString();

  test('has one post that is kept up to date, and its buttons act for a linked person', async () => {
    const placeId = await makePlace('mattermost', placeSettings(vendors, 'mattermost'));
    await trigger();
    const post = vendors.messages[0]!;
    const [attachment] = post.body.props.attachments;
    expect(attachment.title).toBe('@\u200Beveryone \\<b\\>\\*latency\\*\\</b\\> https:// evil\\(.\\)example');
    const { url, context } = attachment.actions[0].integration;
    expect(url).toBe(`http://tocsin.test/api/places/${placeId}/mattermost`);
    expect(await listed(placeId)).not.toContain(context.token);
    const press = (more: object = {}, triggerId = 'first') => {
      const body = { user_id: 'u1', user_name: 'bram', post_id: post.id, trigger_id: triggerId, context, ...more };
      return send(placeId, 'mattermost', JSON.stringify(body), { 'content-type': 'application/json' });
    };
    expect((await press()).body.ephemeral_text).toContain('is not linked');
    const linked = await send(placeId, 'mattermost', form(`link ${await codeOf('mattermost')}`), {});
    expect(linked.body.text).toContain('act for Bram');
    expect(await press({ context: { ...context, token: 'forged' } })).toMatchObject({ status: 403 });
    expect((await press({ post_id: 'other' })).body.ephemeral_text).toContain('belongs to no message');
    expect(await statusOf()).toBe('triggered');
    expect((await press()).body).toEqual({ ephemeral_text: 'Acknowledged. Thank you.' });
    await w.runUntilIdle();
    expect(vendors.messages).toMatchObject([{ id: post.id, edits: 1 }]);
    expect(shown()).toContain('Acknowledged by Bram by Mattermost');
    expect(await send(placeId, 'mattermost', form('', 'wrong'), {})).toMatchObject({ status: 403 });
  });

  test('makes nothing bold, no link and no mention of the name of a team where somebody asks who is on call', async () => {
    await w.expectOk('create_team', { name: '*Ops* @all https://evil.example' });
    const placeId = await makePlace('mattermost', placeSettings(vendors, 'mattermost'));
    await send(placeId, 'mattermost', form(`link ${await codeOf('mattermost')}`), {});
    const { text } = (await send(placeId, 'mattermost', form(''), {})).body;
    expect(text).toContain('\\*Ops\\* @\u200Ball https:// evil\\(.\\)example: ');
  });

  test('has a form whose text becomes a note of the linked person who opened it, once', async () => {
    const placeId = await makePlace('mattermost', placeSettings(vendors, 'mattermost'));
    await trigger();
    const post = vendors.messages[0]!;
    const json = (body: object) =>
      send(placeId, 'mattermost', JSON.stringify(body), { 'content-type': 'application/json' });
    const { context } = post.body.props.attachments[0].actions.at(-1).integration;
    const ask = { user_id: 'u1', user_name: 'bram', post_id: post.id, trigger_id: 't1', context };
    expect((await json(ask)).body.ephemeral_text).toContain('is not linked');
    await send(placeId, 'mattermost', form(`link ${await codeOf('mattermost')}`), {});
    expect(await json(ask)).toEqual({ status: 200, body: {} });
    const { trigger_id: triggerId, url, dialog } = vendors.forms.at(-1);
    expect([triggerId, url]).toEqual(['t1', `http://tocsin.test/api/places/${placeId}/mattermost`]);
    const sent = { type: 'dialog_submission', user_id: 'u1', state: dialog.state, submission: { text: 'It lags.' } };
    const [end, postId, mark] = dialog.state.split(' ');
    for (const forged of [
      { user_id: 'u2' },
      { state: '' },
      { state: `${Number(end) + 1} ${postId} ${mark}` },
      { state: `${end} other ${mark}` },
      { submission: { text: ' ' } },
    ])
      expect(await json({ ...sent, ...forged })).toMatchObject({ status: 403 });
    expect(await notes()).toEqual([]);
    expect(await json(sent)).toEqual({ status: 200, body: {} });
    expect((await json(sent)).body.error).toContain('Nothing was changed');
    expect(await notes()).toEqual([{ body: 'It lags.' }]);
    w.clock.advance({ minutes: 31 });
    expect(await json(sent)).toMatchObject({ status: 403 });
  });
});

describe('Discord', () => {
  const user = { member: { user: { id: '42', username: 'bram' } } };

  test('has one message that mentions nobody, and its buttons act for a linked person', async () => {
    const placeId = await makePlace('discord', placeSettings(vendors, 'discord'));
    expect(await interact(placeId, { type: 1 })).toMatchObject({ status: 200, body: { type: 1 } });
    expect(await interact(placeId, { type: 1 }, { forged: true })).toMatchObject({ status: 401 });
    expect(await interact(placeId, { type: 1 }, { age: 301 })).toMatchObject({ status: 401 });
    await trigger('@everyone '.repeat(100));
    const message = vendors.messages[0]!;
    expect(message.body).toMatchObject({ allowed_mentions: { parse: [] } });
    expect(shown()).not.toContain('@everyone');
    const data = { custom_id: message.body.components[0].components[0].custom_id };
    const press = { type: 3, id: 'i1', channel_id: '77', message: { id: message.id }, data, ...user };
    expect((await interact(placeId, press)).body.data.content).toContain('is not linked');
    const option = { name: 'oncall', options: [{ name: 'text', value: `link ${await codeOf('discord')}` }] };
    const linked = await interact(placeId, { type: 2, id: 'i2', data: option, ...user });
    expect(linked.body).toMatchObject({ type: 4, data: { flags: 64 } });
    expect(linked.body.data.content).toContain('act for Bram');
    expect((await interact(placeId, press)).body.data.content).toBe('Acknowledged. Thank you.');
    await w.runUntilIdle();
    expect(vendors.messages).toMatchObject([{ id: message.id, edits: 1 }]);
    vendors.removeMessages();
    await w.expectOk('resolve_incident', { incidentId });
    await w.runUntilIdle();
    expect(vendors.messages).toMatchObject([{ edits: 0 }]);
  });

  test('has a form whose text becomes a note of a linked person, once', async () => {
    const placeId = await makePlace('discord', placeSettings(vendors, 'discord'));
    await trigger();
    const { id, body } = vendors.messages[0]!;
    const at = { channel_id: '77', message: { id }, ...user };
    const note = body.components[0].components.find(({ label }: { label?: string }) => label === 'Note').custom_id;
    const ask = { type: 3, id: 'i1', data: { custom_id: note }, ...at };
    expect((await interact(placeId, ask)).body.data.content).toContain('is not linked');
    const option = { name: 'oncall', options: [{ name: 'text', value: `link ${await codeOf('discord')}` }] };
    await interact(placeId, { type: 2, id: 'i2', data: option, ...user });
    const form = await interact(placeId, ask);
    expect(form.body).toMatchObject({ type: 9, data: { custom_id: note } });
    const field = form.body.data.components[0].components[0];
    const written = (value: string, more: object = {}) => {
      const components = [{ type: 1, components: [{ type: 4, custom_id: field.custom_id, value }] }];
      return interact(placeId, { type: 5, id: 'i3', data: { custom_id: note, components }, ...at, ...more });
    };
    expect((await written('lost', { message: { id: '999' } })).body.data.content).toContain('none of Tocsin');
    expect((await written('The replica lags.')).body.data.content).toContain('a note of the incident now');
    await written('The replica lags.');
    expect((await written(' ')).body.data.content).toBe('Tocsin does not know this.');
    expect(await notes()).toEqual([{ body: 'The replica lags.' }]);
  });
});

describe('Telegram', () => {
  const update = (placeId: string, sent: object, secret = 'secret-token') =>
    send(placeId, 'telegram', JSON.stringify(sent), { 'x-telegram-bot-api-secret-token': secret });
  const from = { id: 42, username: 'bram' };

  test('has one message in its HTML, and its buttons act for a linked person', async () => {
    const placeId = await makePlace('telegram', placeSettings(vendors, 'telegram'));
    await trigger();
    const message = vendors.messages[0]!;
    expect(message.body.text).toContain('<b>@\u200Beveryone &lt;b&gt;*latency*&lt;/b&gt; https:// evil(.)example</b>');
    const at = { message_id: Number(message.id), chat: { id: -1_001_234_567_890 } };
    const data = message.body.reply_markup.inline_keyboard[0][0].callback_data;
    const press = { update_id: 1, callback_query: { id: 'q1', from, message: at, data } };
    expect(await update(placeId, press, 'wrong')).toMatchObject({ status: 403 });
    expect((await update(placeId, press)).body).toMatchObject({
      method: 'answerCallbackQuery',
      callback_query_id: 'q1',
      text: expect.stringContaining('is not linked'),
    });
    const command = { text: `/oncall@tocsin_bot link ${await codeOf('telegram')}`, from, chat: at.chat };
    expect((await update(placeId, { update_id: 2, message: command })).body).toMatchObject({
      method: 'sendMessage',
      text: expect.stringContaining('act for Bram'),
    });
    expect((await update(placeId, press)).body.text).toBe('Acknowledged. Thank you.');
    await w.runUntilIdle();
    expect(vendors.messages).toMatchObject([{ id: message.id, edits: 1 }]);
    expect((await update(placeId, press)).body.text).toContain('counted already');
  });

  test('takes an answer of a linked person to its message as a note, once, and tells nobody', async () => {
    const channel = '-1001234567890';
    const placeId = await makePlace('telegram', placeSettings(vendors, 'telegram'));
    await trigger();
    const chat = { id: Number(channel) };
    const answered = { message_id: Number(vendors.messages[0]!.id), chat };
    const answer = { message_id: 500, from, chat, reply_to_message: answered, text: 'The replica lags.' };
    const write = (more: object = {}) => update(placeId, { update_id: 3, message: { ...answer, ...more } });
    expect(await write()).toEqual({ status: 200, body: {} });
    expect(await notes()).toEqual([]);
    const link = { text: `/oncall link ${await codeOf('telegram')}`, from, chat };
    await update(placeId, { update_id: 2, message: link });
    const others = [
      { reply_to_message: { message_id: 12_345, chat } },
      { reply_to_message: undefined },
      { chat: { id: -5 } },
      { from: { ...from, is_bot: true } },
      { from: { id: 43, username: 'eve' } },
      { forward_origin: { type: 'user' } },
      { text: ' ' },
      { text: '/stop' },
    ];
    for (const more of others) expect(await write(more)).toEqual({ status: 200, body: {} });
    expect(await update(placeId, { update_id: 4, message: answer }, 'wrong')).toMatchObject({ status: 403 });
    expect(await update(placeId, { update_id: 5, edited_message: answer })).toMatchObject({ status: 200 });
    expect(await notes()).toEqual([]);
    await write();
    await write();
    expect(await notes()).toEqual([{ body: 'The replica lags.' }]);
    await w.runUntilIdle();
    expect(vendors.messages).toHaveLength(1);
  });
});

test.each([
  ['telegram', MISSING_CHAT],
  ['mattermost', ARCHIVED_CHANNEL],
])('a message to %s is tried again while its channel takes none', async (kind, channel) => {
  const placeId = await makePlace(kind, { ...placeSettings(vendors, kind), channel });
  await trigger();
  expect(await listed(placeId)).toContain('"status":"waiting"');
});

test.each(['teams', 'mattermost', 'discord', 'telegram', 'ntfy'])(
  '%s is left alone for as long as it asks when it limits',
  async (kind) => {
    const placeId = await makePlace(kind, placeSettings(vendors, kind));
    vendors.limit(120);
    await asOwner(testPlace, { placeId });
    await w.runUntilIdle();
    expect(vendors.limited()).toBe(1);
    await w.advance({ seconds: 119 });
    expect(vendors.limited()).toBe(1);
    vendors.limit(null);
    await w.advance({ seconds: 1 });
    expect(vendors.messages).toHaveLength(1);
  },
);

describe.each(['mattermost', 'discord', 'telegram'])('a press in %s', (kind) => {
  const by = { account: '42', id: 'first', secret: 'secret-token' };
  /** Presses the first button of the message of the incident, which acknowledges. */
  const press = async (placeId: string, { account, id, secret }: typeof by): Promise<Answered> => {
    const { id: messageId, body } = vendors.messages[0]!;
    if (kind === 'mattermost') {
      const { context } = body.props.attachments[0].actions[0].integration;
      const marked = secret === by.secret ? context : { ...context, token: secret };
      const pressed = { user_id: account, user_name: 'bram', post_id: messageId, trigger_id: id, context: marked };
      return await send(placeId, kind, JSON.stringify(pressed), { 'content-type': 'application/json' });
    }
    if (kind === 'discord') {
      const { custom_id: data } = body.components[0].components[0];
      const at = { channel_id: '77', message: { id: messageId } };
      const pressed = { type: 3, id, data: { custom_id: data }, member: { user: { id: account } }, ...at };
      return await interact(placeId, pressed, { forged: secret !== by.secret });
    }
    const data = body.reply_markup.inline_keyboard[0][0].callback_data;
    const message = { message_id: Number(messageId), chat: { id: -1_001_234_567_890 } };
    const pressed = { callback_query: { id, from: { id: Number(account) }, message, data } };
    return await send(placeId, kind, JSON.stringify(pressed), { 'x-telegram-bot-api-secret-token': secret });
  };
  const saidIn = ({ body }: Answered): string => body.ephemeral_text ?? body.data?.content ?? body.text;
  const link = async ({ orgId }: Pick<StaffedWorld, 'orgId'>, userId: Id<'user'>) => {
    const { code } = await runOperation(w, beginChatLink, memberCaller(orgId, userId, 'responder'), { kind });
    const identity = {
      orgId,
      kind: kind as 'discord',
      account: by.account,
      name: 'bram',
      secretRole: 'owner' as const,
    };
    const placeId = (await w.context.db.sql.row<{ id: Id<'place'> }>('select id from places where org_id = $1', [
      orgId,
    ]))!.id;
    const origin = { requestId: 'req_link', address: null };
    const name = await inUnitOfWork(w.context.actions, (unit) =>
      linkChatAccount(unit, { ...identity, placeId }, code, origin),
    );
    expect(name).toBe('Bram');
  };

  test('that is forged, replayed, foreign or by a stranger does nothing and says so', async () => {
    const placeId = await makePlace(kind, placeSettings(vendors, kind));
    await trigger();
    const bram = await w.given.user({ name: 'Bram' });
    await link(w, bram.userId);
    expect((await press(placeId, { ...by, secret: 'another' })).status).toBeGreaterThanOrEqual(401);
    expect(saidIn(await press(placeId, { ...by, account: '43' }))).toContain('is not linked');

    const other = await w.given.organization('Other');
    const owner = memberCaller(other.orgId, other.owner.userId, 'owner');
    const foreign = { kind, name: kind, settings: placeSettings(vendors, kind), routes: ALL };
    const { place } = await runOperation(w, createPlace, owner, foreign);
    const joining = `insert into memberships (org_id, user_id, role, created_at) values ($1, $2, 'responder', now())`;
    await w.context.db.sql.run(joining, [other.orgId, bram.userId]);
    await link(other, bram.userId);
    expect(saidIn(await press(place.placeId, by))).toContain('belongs to no message');
    expect(await statusOf()).toBe('triggered');

    expect(saidIn(await press(placeId, by))).toBe('Acknowledged. Thank you.');
    const reset = `set status = 'triggered', acknowledged_at = null, acknowledged_by = null where id = $1`;
    await w.context.db.sql.run(`update incidents ${reset}`, [incidentId]);
    expect(saidIn(await press(placeId, by))).toBe('This press was counted already. Nothing was changed.');
    expect(await statusOf()).toBe('triggered');
  });
});
