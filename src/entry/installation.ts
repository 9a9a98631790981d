import type { Installation } from '#actions/action_context.ts';
import { CHANNELS, declarationOf } from '#modules/contacts/decide/channel.ts';
import { simulatedAccountSid, simulatedIdsOf, simulatorTokenOf } from '#notify/twilio/simulated_account.ts';
import { findOldRules, readTimeZoneRules } from '#entry/time_zone_rules.ts';
import { createCipher } from '#auth/cipher.ts';
import { createProviderFetch, createToolFetch, isInternalHostname } from '#auth/external_fetch.ts';
import { createOpenIdClient } from '#auth/openid/client.ts';
import { createTextRecordFinder } from '#auth/openid/text_records.ts';
import { AppError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { LOOPBACK_NAMES } from '#kernel/url_fault.ts';
import { externalFetchOptionsOf, requireStores } from './config.ts';
import type { FoundationConfig } from '#entry/foundation.ts';
import { deriveVapidKeys, pushContact } from '#notify/channels/push/sender.ts';
import { addressIn, mailServerOf, rememberMailFault } from '#notify/mail/send_mail.ts';

/** Returns the domain of the addresses for alerts by mail. */
export function mailInDomainOf({ mailInDomain, baseUrl }: Pick<FoundationConfig, 'mailInDomain' | 'baseUrl'>): string {
  return mailInDomain ?? new URL(baseUrl).hostname;
}

/** Bytes of the largest answer of an issue tracker, which repeats the text of the issue. */
const TRACKER_BYTES_MAX = 1024 * 1024;

/** Limit on the exports that a process makes at a time. */
const EXPORTS_MAX = 2;

/** Returns what makes the exports of organizations: one at a time for each, few for all. */
function exportsOf(config: FoundationConfig): Installation['exportOrganization'] {
  const running = new Set<string>();
  const requireFree = (orgId: string): void => {
    if (running.has(orgId)) throw new AppError('conflict', 'an export of the organization is being made: wait for it');
    if (running.size < EXPORTS_MAX) return;
    throw new AppError('rate_limited', 'other exports are being made: try again in some minutes', {
      retryAfterSeconds: 300,
    });
  };
  const make = async function* (orgId: string): AsyncGenerator<Uint8Array> {
    requireFree(orgId);
    running.add(orgId);
    try {
      const { exportedArchive } = await import('#entry/transfer/export_organization.ts');
      yield* exportedArchive(requireStores(config), orgId);
    } finally {
      running.delete(orgId);
    }
  };
  return (orgId) => {
    requireFree(orgId);
    return make(orgId);
  };
}

/** Returns the setup of this installation, for the operations of the console. */
export function installationOf(config: FoundationConfig, clock: Clock): Installation {
  const { appSecret, baseUrl, twilioAccountSid, twilioApiBase, twilioFrom } = config;
  const timeZoneRules = readTimeZoneRules();
  const isSimulated = twilioAccountSid === simulatedAccountSid(appSecret);
  const mail = mailServerOf(config);
  return {
    limits: config,
    hasMail: mail !== null,
    mailInDomain: config.mailInPort === 0 ? null : mailInDomainOf(config),
    hasPushContact: pushContact(config.baseUrl, config.mailFrom ?? null).isGiven,
    findMailFault: rememberMailFault(mail),
    phoneProvider: isSimulated ? 'simulator' : 'twilio',
    timeZoneRules: { ...timeZoneRules, fault: findOldRules(timeZoneRules) },
    simulatedChannels: new Set(
      isSimulated ? CHANNELS.filter((channel) => declarationOf(channel).provider === 'twilio') : [],
    ),
    // It listens on this machine only.
    simulatorUrl:
      isSimulated && twilioApiBase !== undefined && LOOPBACK_NAMES.includes(new URL(baseUrl).hostname)
        ? `${twilioApiBase}/${simulatorTokenOf(appSecret)}/`
        : null,
    simulatedIds: simulatedIdsOf(appSecret),
    senders: {
      phones: twilioFrom === undefined ? [] : [twilioFrom],
      emails: mail === null ? [] : [addressIn(mail.from)],
    },
    vapidPublicKey: deriveVapidKeys(appSecret).publicKey,
    openId: createOpenIdClient(clock, createProviderFetch({ ...externalFetchOptionsOf(config), clock })),
    findTextRecords: createTextRecordFinder(config.dnsServers),
    hasAuditFolder: config.auditStreamFolder !== undefined,
    allowsInternalAddresses: externalFetchOptionsOf(config).allowInternalAddresses,
    isPrivateHost: (hostname) => isInternalHostname(hostname, externalFetchOptionsOf(config)),
    exportOrganization: exportsOf(config),
    trackerFetch: createToolFetch({ ...externalFetchOptionsOf(config), bytesMax: TRACKER_BYTES_MAX }),
    ciphers: {
      calendarFeeds: createCipher(appSecret, 'calendar-feeds'),
      invitations: createCipher(appSecret, 'invitations'),
      secondFactors: createCipher(appSecret, 'second-factors'),
      eventAttachments: createCipher(appSecret, 'event-attachments'),
      openIdSecrets: createCipher(appSecret, 'openid-secrets'),
      places: createCipher(appSecret, 'places'),
      auditStreams: createCipher(appSecret, 'audit-streams'),
      issueTrackers: createCipher(appSecret, 'issue-trackers'),
      organizationExports: createCipher(appSecret, 'organization-exports'),
    },
  };
}
