import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { newIngestKeyPair, openIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_keys.ts';
import { AppError } from '#kernel/errors.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

/** Lets senders of another installation report here: only the host of their DSN changes. */
export const keepSentryDsn = defineAction({
  name: 'keep_sentry_dsn',
  consoleOnly: true,
  summary:
    'Let a service take events by the public key and project number of a DSN from Sentry; the DSN that it had is revoked, its ingestion key stays.',
  permission: 'services:edit',
  effect: 'write',
  stepUp: true,
  input: Type.Object(
    {
      serviceId: IdText,
      publicKey: Type.String({ pattern: '^[0-9a-f]{32}$', description: '32 characters of 0-9a-f' }),
      projectNumber: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    },
    STRICT,
  ),
  result: Type.Object({ serviceId: IdText, projectNumber: Type.Integer() }),
  conflict: 'another service has this public key, or had it',
  example: { serviceId: IDS.serviceId, publicKey: '9f2c4b7d1e8a4f60b3c5d7e9f1a2b4c6', projectNumber: 42 },
  async handle({ serviceId, publicKey, projectNumber }, { stores, caller, now, cipher, record }) {
    const service = await stores.services.lock(caller.orgId, serviceId);
    const secrets = await stores.ingestKeys.findSecrets(service.id);
    const { ingestionKey, dsnKey } = secrets === null ? newIngestKeyPair() : openIngestKeyPair(secrets, cipher);
    const before = { projectNumber: service.keptProjectNumber, dsn: 'revoked' };
    service.keptProjectNumber = projectNumber;
    await stores.services.save(service, now);
    if (dsnKey !== publicKey) {
      try {
        await stores.ingestKeys.changePair(service, sealIngestKeyPair({ ingestionKey, dsnKey: publicKey }, cipher));
      } catch (error) {
        if (!isUniqueViolation(error)) throw error;
        throw new AppError('conflict', 'another service has this public key, or had it before its DSN was renewed');
      }
    }
    record({ target: service.id, before, after: { projectNumber, dsn: 'kept' } });
    return { serviceId: service.id, projectNumber };
  },
});
