import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject } from '#actions/fields.ts';
import { AppError } from '#kernel/errors.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { addressOf } from '#modules/moving_in/ask.ts';
import { keyOf } from '#modules/moving_in/ask_files.ts';
import { ASKED_TOOLS } from '#modules/moving_in/ask_tools.ts';
import { TOOL_NAMES } from '#modules/moving_in/decide/tool_names.ts';
import { PART_LENGTH_MAX, PARTS_MAX, UPLOAD_LENGTH_MAX } from '#modules/moving_in/decide/upload_limits.ts';
import { requireQuiet, workOf } from '#modules/moving_in/move_in.ts';
import { parseInstant } from '#modules/schedules/decide/parse_instant.ts';

export const createMoveIn = defineOperation({
  name: 'create_move_in',
  summary: 'Begin to move in from another tool. Nothing is read before files are added or a key is given.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    tool: Type.Enum([...TOOL_NAMES]),
    proofFrom: Type.Optional(
      Type.String({ maxLength: 40, description: 'RFC 3339; the days around the next changes of clocks when left out' }),
    ),
  }),
  result: Type.Object({ moveInId: IdText }),
  example: { tool: 'pagerduty', proofFrom: '2027-03-01T00:00:00Z' },
  async handle({ tool, proofFrom }, { caller, stores, now, record }) {
    const from = proofFrom === undefined ? null : unwrap(parseInstant(proofFrom, 'UTC', 'proofFrom'));
    const createdBy = caller.actor.kind === 'user' ? caller.actor.userId : null;
    const moveInId = await stores.moveIns.insert({ orgId: caller.orgId, tool, proofFrom: from, createdBy }, now);
    record({ target: moveInId, before: null, after: { tool } });
    return { moveInId };
  },
});

export const addMoveInFile = defineOperation({
  name: 'add_move_in_file',
  summary: 'Add a file of another tool, or a part of one, to a move that has not been read yet.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    moveInId: IdText,
    name: Type.String({ minLength: 1, maxLength: 300, description: 'path of the file within its folder' }),
    part: Type.Integer({ minimum: 0, maximum: PARTS_MAX, description: 'parts are put together in this order' }),
    text: Type.String({ maxLength: PART_LENGTH_MAX }),
  }),
  result: Type.Object({ length: Type.Integer({ description: 'characters of all files so far' }) }),
  conflict: 'the move is being read, or was',
  example: { name: 'users.json', part: 0, text: '{"users":[]}' },
  async handle({ moveInId, name, part, text }, { caller, stores, now, record }) {
    const { moveIns } = stores;
    const move = await moveIns.lock(caller.orgId, moveInId);
    if (move.status !== 'collecting' && move.status !== 'failed')
      throw new AppError('conflict', 'this move was read already; begin another one');
    await moveIns.keepPart(move.id, name, part, text);
    const length = await moveIns.countKept(move.id);
    if (length > UPLOAD_LENGTH_MAX) {
      const megabytes = UPLOAD_LENGTH_MAX / 1_000_000;
      throw new AppError('conflict', `the files have more than ${megabytes} MB; move in by the command line`);
    }
    await moveIns.save(move.id, { updatedAt: now });
    if (part === 0) record({ target: move.id, before: null, after: { file: name } });
    return { length };
  },
});

export const readMoveIn = defineOperation({
  name: 'read_move_in',
  summary:
    'Read what another tool says, over its API with a key or from the files that were added, into a file and a report. The key is not kept.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    moveInId: IdText,
    key: Type.Optional(Type.String({ minLength: 1, maxLength: 16_384, description: 'read-only; it is not kept' })),
    baseUrl: Type.Optional(Type.String({ maxLength: 2_000, description: 'where it is not the usual address' })),
  }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or was read already',
  example: { key: 'u+read-only', baseUrl: 'https://api.eu.pagerduty.com' },
  async handle({ moveInId, key, baseUrl }, context) {
    const { caller, stores, now, record, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (move.hasFile) throw new AppError('conflict', 'this move was read already; begin another one');
    if (key === undefined && (await stores.moveIns.countKept(move.id)) === 0)
      throw new AppError('conflict', 'add files, or give a key');
    if (key !== undefined) {
      const asked = ASKED_TOOLS[move.tool];
      if (asked === undefined) throw new AppError('invalid_input', 'this tool is read from files only');
      keyOf(key, 'the field for the key');
      addressOf(baseUrl ?? asked.baseUrl, 'the address');
    }
    const begun = { status: 'reading', progress: 'Reading has begun.', fault: null } as const;
    await stores.moveIns.save(move.id, { ...begun, updatedAt: now });
    record({ target: move.id, before: null, after: { read: key === undefined ? 'files' : 'with a key' } });
    moveIns.read(workOf(move, context), key === undefined ? null : { key, baseUrl: baseUrl ?? null });
    return { moveInId: move.id };
  },
});

export const planMoveIn = defineOperation({
  name: 'plan_move_in',
  summary: 'Plan anew what a move would change here, since something may have changed. Nothing else is changed.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ moveInId: IdText }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or was not read yet',
  async handle({ moveInId }, context) {
    const { caller, stores, now, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (!move.hasFile) throw new AppError('conflict', 'nothing was read yet');
    await stores.moveIns.save(move.id, { plan: null, fault: null, updatedAt: now });
    moveIns.plan(workOf(move, context));
    return { moveInId: move.id };
  },
});

export const applyMoveIn = defineOperation({
  name: 'apply_move_in',
  stepUp: true,
  summary: 'Make the changes of the plan of a move, each by its ordinary operation. Nothing is deleted.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({
    moveInId: IdText,
    fingerprint: Type.String({ maxLength: 64, description: 'of the plan that was reviewed' }),
  }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is being worked on, or the plan is another one by now',
  example: { fingerprint: '5f2c7c1c9b4f4d8e8f0a1b2c3d4e5f60' },
  async handle({ moveInId, fingerprint }, context) {
    const { caller, stores, now, record, moveIns } = context;
    moveIns.requireRoom(caller.orgId);
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    requireQuiet(move, now);
    if (move.plan?.fingerprint !== fingerprint)
      throw new AppError('conflict', 'the plan is another one by now; review it again');
    const begun = { status: 'applying', progress: 'Applying has begun.', fault: null } as const;
    await stores.moveIns.save(move.id, { ...begun, updatedAt: now });
    record({ target: move.id, before: null, after: { applied: move.plan.changes } });
    moveIns.apply(workOf(move, context), fingerprint);
    return { moveInId: move.id };
  },
});

export const stopMoveIn = defineOperation({
  name: 'stop_move_in',
  summary: 'Stop reading what another tool says. The next reading goes on where this one stopped.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ moveInId: IdText }),
  result: Type.Object({ moveInId: IdText }),
  conflict: 'the move is not being read',
  async handle({ moveInId }, { caller, stores, now, record, moveIns }) {
    const move = await stores.moveIns.lock(caller.orgId, moveInId);
    if (move.status !== 'reading') throw new AppError('conflict', 'this move is not being read');
    const fault = 'The reading was stopped. Begin again: it goes on where it stopped.';
    await stores.moveIns.save(move.id, { status: 'failed', progress: '', fault, updatedAt: now });
    record({ target: move.id, before: null, after: { stopped: true } });
    moveIns.stop(move.id);
    return { moveInId: move.id };
  },
});
