import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp } from '#kernel/time.ts';

export const listAlertBodies = defineAction({
  name: 'list_alert_bodies',
  consoleOnly: true,
  summary: 'Show the last five bodies that a source of alerts has sent. Each call is recorded in the audit log.',
  permission: 'services:edit',
  effect: 'read',
  input: Type.Object({ sourceId: IdText }, STRICT),
  result: Type.Object({
    sourceId: IdText,
    bodies: Type.Array(
      Type.Object({
        receivedAt: Timestamp,
        refusal: nullable(Type.String({ description: 'why it was refused; null when it was taken' })),
        body: Type.String({ description: 'as it was sent, its first 64 KiB' }),
      }),
      { description: 'newest first; of a flood one a second is kept' },
    ),
  }),
  example: { sourceId: IDS.alertSourceId },
  async handle({ sourceId }, { caller, stores, cipher, recordCredentialRead }) {
    const source = await stores.alertSources.get(caller.orgId, sourceId);
    const bodies = await stores.alertSources.listBodies(source.id);
    recordCredentialRead(source.id);
    return {
      sourceId: source.id,
      bodies: bodies.map(({ receivedAt, refusal, sealed }) => ({
        receivedAt: toTimestamp(receivedAt),
        refusal,
        body: cipher.open(sealed).toString('utf8'),
      })),
    };
  },
});
