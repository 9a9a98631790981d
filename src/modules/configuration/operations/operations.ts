import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, StrictObject, Timestamp } from '#actions/fields.ts';
import { newIngestKeyPair, openIngestKeyPair, sealFurtherKey, sealIngestKeyPair } from '#auth/ingest_access.ts';
import { hashSecret } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { FURTHER_KEYS_MAX } from '#modules/configuration/decide/file.ts';
import { MANAGED_CHANGES } from '#modules/configuration/decide/managed_changes.ts';
import { RESOURCE_KINDS } from '#modules/configuration/decide/resource.ts';
import { addPerson } from '#modules/configuration/operations/add_person.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

const PublicKey = Type.String({ pattern: '^[0-9a-f]{32}$', description: '32 characters of 0-9a-f' });

/** Lets senders of another installation report here: only the host of their DSN changes. */
const keepSentryDsn = defineOperation({
  name: 'keep_sentry_dsn',
  summary:
    'Let a service take events by the public keys and project number of DSNs from Sentry; the DSN that it had is revoked, its ingestion key stays.',
  permission: 'services:edit',
  effect: 'write',
  stepUp: true,
  input: StrictObject({
    serviceId: IdText,
    publicKey: PublicKey,
    projectNumber: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    furtherKeys: Type.Optional(
      Type.Array(PublicKey, {
        maxItems: FURTHER_KEYS_MAX,
        description: 'further public keys that senders of the project use; those that are left out are taken away',
      }),
    ),
  }),
  result: Type.Object({ serviceId: IdText, projectNumber: Type.Integer() }),
  conflict: 'another service has this public key, or had it',
  example: {
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

const KEYS_MAX = 500;
const Kind = Type.Enum([...RESOURCE_KINDS]);

/** Longer than a key: those of members and overrides are put together. */
const KEY_LENGTH_MAX = 400;

/**
 * Records which resources a file manages; nothing else changes. What is not of the organization is passed over. Only
 * whoever applies a file does this: what a file has made is deleted once it is not in the file any more.
 */
const recordKeys = defineOperation({
  name: 'record_keys',
  summary: 'Record the keys that a configuration file has for resources that are there, and forget those of others.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    file: Type.String({ minLength: 1, maxLength: 200 }),
    record: Type.Array(
      StrictObject({ kind: Kind, key: Type.String({ maxLength: KEY_LENGTH_MAX }), id: IdText, isMade: Type.Boolean() }),
      { maxItems: KEYS_MAX },
    ),
    forget: Type.Array(StrictObject({ kind: Kind, key: Type.String({ maxLength: KEY_LENGTH_MAX }) }), {
      maxItems: KEYS_MAX,
    }),
  }),
  result: Type.Object({ recorded: Type.Integer(), forgotten: Type.Integer() }),
  refusals: ['forbidden'],
  example: {
    file: 'tocsin.yaml',
    record: [{ kind: 'team', key: 'payments', id: 'team_01k9z7c9d0e1f2g3h4j5k6m7np', isMade: false }],
    forget: [],
  },
  async handle({ file, record, forget }, context) {
    const { stores, caller, now } = context;
    if (caller.appliesFile !== true) {
      throw new AppError('forbidden', 'which file manages what is recorded by applying the file');
    }
    const named = record.map(({ id, ...resource }) => ({ ...resource, resourceId: id, file }));
    const resources = await stores.configuration.filterOwn(caller.orgId, named);
    await stores.configuration.forget(caller.orgId, forget);
    await stores.configuration.record(caller.orgId, resources, now);
    context.record({
      target: caller.orgId,
      before: null,
      after: { file, recorded: resources.length, forgotten: forget.length },
    });
    return { recorded: resources.length, forgotten: forget.length };
  },
});

const listManaged = defineOperation({
  name: 'list_managed',
  summary:
    'Tell which of these are managed by a configuration file, under which key, and whether people may change them.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({ ids: Type.Array(IdText, { maxItems: 200 }) }),
  result: Type.Object({
    managedChanges: Type.Enum([...MANAGED_CHANGES]),
    managed: Type.Array(Type.Object({ id: IdText, kind: Type.String(), key: Type.String(), file: Type.String() })),
  }),
  example: { ids: ['team_01k9z7c9d0e1f2g3h4j5k6m7np'] },
  async handle({ ids }, { stores, caller }) {
    const marks = await stores.configuration.listMarks(caller.orgId, ids);
    return {
      managedChanges: await stores.configuration.getManagedChanges(caller.orgId),
      managed: marks.map(({ resourceId, kind, key, file }) => ({ id: resourceId, kind, key, file })),
    };
  },
});

const Choice = Type.Enum([...MANAGED_CHANGES], {
  description: 'whether people may change in the console what a configuration file manages',
});

const setManagedChanges = defineOperation({
  name: 'set_managed_changes',
  summary: 'Choose whether what a configuration file manages may also be changed in the console.',
  permission: 'organization:manage',
  effect: 'write',
  input: StrictObject({ managedChanges: Choice }),
  result: Type.Object({ managedChanges: Choice }),
  example: { managedChanges: 'refused' },
  async handle({ managedChanges }, { stores, caller, record }) {
    const before = await stores.configuration.setManagedChanges(caller.orgId, managedChanges);
    record({ target: caller.orgId, before: { managedChanges: before }, after: { managedChanges } });
    return { managedChanges };
  },
});

const listConfigurationFiles = defineOperation({
  name: 'list_configuration_files',
  summary: 'List the configuration files of the organization, with how much each manages and when it was applied last.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Object({
    managedChanges: Type.Enum([...MANAGED_CHANGES]),
    files: Type.Array(Type.Object({ file: Type.String(), resources: Type.Integer(), changedAt: Timestamp })),
  }),
  async handle(_input, { stores, caller }) {
    const files = await stores.configuration.listFiles(caller.orgId);
    return {
      managedChanges: await stores.configuration.getManagedChanges(caller.orgId),
      files: files.map(({ file, resources, changedAt }) => ({ file, resources, changedAt: toTimestamp(changedAt) })),
    };
  },
});

export const CONFIGURATION_OPERATIONS = [
  addPerson,
  keepSentryDsn,
  recordKeys,

  listManaged,
  listConfigurationFiles,
  setManagedChanges,
] as const;
