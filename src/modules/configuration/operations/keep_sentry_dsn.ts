import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { newIngestKeyPair, openIngestKeyPair, sealFurtherKey, sealIngestKeyPair } from '#auth/ingest_keys.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { FURTHER_KEYS_MAX } from '#modules/configuration/decide/file.ts';
import { AppError } from '#kernel/errors.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

const PublicKey = Type.String({ pattern: '^[0-9a-f]{32}$', description: '32 characters of 0-9a-f' });

/** Lets senders of another installation report here: only the host of their DSN changes. */
export const keepSentryDsn = defineAction({
  name: 'keep_sentry_dsn',
  consoleOnly: true,
  summary:
    'Let a service take events by the public keys and project number of DSNs from Sentry; the DSN that it had is revoked, its ingestion key stays.',
  permission: 'services:edit',
  effect: 'write',
  stepUp: true,
  input: Type.Object(
    {
      serviceId: IdText,
      publicKey: PublicKey,
      projectNumber: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
      furtherKeys: Type.Optional(
        Type.Array(PublicKey, {
          maxItems: FURTHER_KEYS_MAX,
          description: 'further public keys that senders of the project use; those that are left out are taken away',
        }),
      ),
    },
    STRICT,
  ),
  result: Type.Object({ serviceId: IdText, projectNumber: Type.Integer() }),
  conflict: 'another service has this public key, or had it',
  example: {
    serviceId: IDS.serviceId,
    publicKey: '9f2c4b7d1e8a4f60b3c5d7e9f1a2b4c6',
    projectNumber: 42,
    furtherKeys: ['0d3b5f7a9c1e4820b6d8f0a2c4e68b13'],
  },
  async handle({ serviceId, publicKey, projectNumber, furtherKeys = [] }, { stores, caller, now, cipher, record }) {
    const service = await stores.services.lock(caller.orgId, serviceId);
    const secrets = await stores.ingestKeys.findSecrets(service.id);
    const { ingestionKey, dsnKey } = secrets === null ? newIngestKeyPair() : openIngestKeyPair(secrets, cipher);
    const further = [...new Set(furtherKeys)].filter((key) => key !== publicKey);
    const present = ((await stores.ingestKeys.listFurther([service.id])).get(service.id) ?? []).map(
      (sealed) => openIngestKeyPair(sealed, cipher).dsnKey,
    );
    const before = { projectNumber: service.keptProjectNumber, dsn: 'revoked', furtherKeys: present.length };
    service.keptProjectNumber = projectNumber;
    await stores.services.save(service, now);
    try {
      await stores.ingestKeys.removeFurther(service, further.map(hashSecret));
      if (dsnKey !== publicKey)
        await stores.ingestKeys.changePair(service, sealIngestKeyPair({ ingestionKey, dsnKey: publicKey }, cipher));
      const added = further.filter((key) => !present.includes(key));
      await stores.ingestKeys.addFurther(
        service,
        added.map((key) => sealFurtherKey(ingestionKey, key, cipher)),
        now,
      );
    } catch (error) {
      if (!isUniqueViolation(error)) throw error;
      throw new AppError('conflict', 'another service has one of these keys, or had it before its DSN was renewed');
    }
    record({ target: service.id, before, after: { projectNumber, dsn: 'kept', furtherKeys: further.length } });
    return { serviceId: service.id, projectNumber };
  },
});
