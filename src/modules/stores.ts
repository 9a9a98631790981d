import type { Static, TObject } from 'typebox';

import { type JobContract, toStored } from '#kernel/job.ts';
import type { LimitName } from '#kernel/limit_settings.ts';
import type { ReachedLimits } from '#kernel/reached_limits.ts';
import type { Clock, Temporal } from '#kernel/time.ts';
import { ActiveRuleStore } from '#modules/rules/store/active_rule_store.ts';
import { RuleMemoryStore } from '#modules/rules/store/rule_memory_store.ts';
import { AlertKeyStore } from '#modules/alerts/store/alert_key_store.ts';
import { AlertRouteStore } from '#modules/alerts/store/alert_route_store.ts';
import { AlertSourceStore } from '#modules/alerts/store/alert_source_store.ts';
import { AlertStore } from '#modules/alerts/store/alert_store.ts';
import { AlertRuleStore } from '#modules/rules/store/alert_rule_store.ts';
import { ApiKeyStore } from '#modules/api_keys/store.ts';
import { ArtifactStore } from '#modules/releases/store/artifact_store.ts';
import { AuditStreamStore } from '#modules/audit/store/audit_stream_store.ts';
import { MoveInStore } from '#modules/moving_in/store.ts';
import { AuditChainReader, AuditReader, AuditStore } from '#modules/audit/store/audit_store.ts';
import { CalendarFeedStore, OwnCalendarStore } from '#modules/schedules/store/calendar_store.ts';
import { CapabilityStore } from '#modules/capabilities/store.ts';
import { ConfigurationStore } from '#modules/configuration/store.ts';
import { ConnectionStore } from '#modules/apps/store/connection_store.ts';
import { DashboardStore } from '#modules/dashboards/store.ts';
import { ChangeReader } from '#modules/accounts/store/change_reader.ts';
import { ShadowStore } from '#modules/shadow/store.ts';
import type { Database, Session } from '#storage/postgres/database.ts';
import { DeliveryStore } from '#modules/notifications/store/delivery_store.ts';
import { DigestStore } from '#modules/notifications/store/digest_store.ts';
import {
  EndedCallStore,
  InboundMessageStore,
  ReplyNumberStore,
} from '#modules/notifications/store/phone_reply_store.ts';
import { EventExtraStore } from '#modules/exceptions/store/event_extra_store.ts';
import { ExceptionCountStore } from '#modules/exceptions/store/exception_count_store.ts';
import { ExceptionGroupSearch } from '#modules/exceptions/store/exception_group_search.ts';
import { ExceptionSettingsStore } from '#modules/exceptions/store/exception_settings_store.ts';
import { ExceptionGroupStore } from '#modules/exceptions/store/exception_group_store.ts';
import { IncidentContextReader } from '#modules/incidents/store/incident_context_reader.ts';
import { IncidentResponseStore } from '#modules/incidents/store/incident_response_store.ts';
import { SearchReader } from '#modules/search/store.ts';
import { SuppressionStore } from '#modules/incidents/store/suppression_store.ts';
import { IncidentSearch } from '#modules/incidents/store/incident_search.ts';
import { GroupActivityStore } from '#modules/exceptions/store/group_activity_store.ts';
import { GroupAssignmentStore, GroupWatcherStore } from '#modules/exceptions/store/group_people_store.ts';
import { IssueTrackerStore } from '#modules/exceptions/store/issue_tracker_store.ts';
import { SavedSearchStore } from '#modules/exceptions/store/saved_search_store.ts';
import { GroupSnoozeStore } from '#modules/exceptions/store/group_snooze_store.ts';
import { GroupKeyStore } from '#modules/exceptions/store/group_key_store.ts';
import { GroupReleaseStore } from '#modules/exceptions/store/group_release_store.ts';
import { GroupRateStore } from '#modules/exceptions/store/group_rate_store.ts';
import { GroupMergeStore } from '#modules/exceptions/store/group_merge_store.ts';
import { IncidentStore } from '#modules/incidents/store/incident_store.ts';
import { IncidentNoteStore, IncidentTimelineStore } from '#modules/incidents/store/incident_timeline_store.ts';
import { IngestKeyStore } from '#modules/services/store/ingest_key_store.ts';
import { IngestRefusalStore, SentItemStore } from '#modules/services/store/ingest_counts.ts';
import { MetricTypeStore } from '#modules/metrics/store/metric_type_store.ts';
import { InvitationStore } from '#modules/organizations/store.ts';
import { DurableJobStore } from '#storage/postgres/durable_job_store.ts';
import { LatePointsStore } from '#modules/metrics/store/series_day_store.ts';
import { LeaseStore } from '#storage/postgres/lease_store.ts';
import { TokenBucketStore } from '#storage/postgres/token_bucket_store.ts';
import { MaintenanceStore } from '#modules/maintenance/store.ts';
import { LoadReader } from '#modules/load/store.ts';
import { MonitorStore } from '#modules/monitors/store/monitor_store.ts';
import { CheckInStore } from '#modules/monitors/store/check_in_store.ts';
import { NotificationStore } from '#modules/notifications/store/notification_store.ts';
import { MessageTemplateStore } from '#modules/exceptions/store/message_template_store.ts';
import { OAuthRecordStore } from '#modules/apps/store/oauth_record_store.ts';
import { ObjectNameReader } from '#modules/agents/store/object_name_reader.ts';
import { HolidayCalendarStore } from '#modules/schedules/store/holiday_calendar_store.ts';
import { OnCallReader } from '#modules/schedules/store/on_call_reader.ts';
import { OpenIdStore } from '#modules/sign_in/store.ts';
import { PagerSignsReader } from '#modules/notifications/store/pager_heartbeat_reader.ts';
import { OutboxStore } from '#storage/postgres/outbox_store.ts';
import { AddressProofStore, PasswordResetStore } from '#modules/accounts/store/password_reset_store.ts';
import { PeopleStore } from '#modules/accounts/store/people_store.ts';
import { ProposalStore } from '#modules/agents/store/proposal_store.ts';
import { PushSubscriptionStore } from '#modules/contacts/store/push_subscription_store.ts';
import { NumberCampaignStore } from '#modules/contacts/store/number_campaign_store.ts';
import { PhoneNumberStore } from '#modules/contacts/store/phone_number_store.ts';
import { ChatAccountStore, PlaceStore } from '#modules/places/store/place_store.ts';
import { PlaceDeliveryStore } from '#modules/places/store/place_delivery_store.ts';
import { PolicyStore } from '#modules/policies/store.ts';
import { ProvisioningStore } from '#modules/provisioning/store/provisioning_store.ts';
import { ScimGroupStore } from '#modules/provisioning/store/scim_group_store.ts';
import { ReleaseStore } from '#modules/releases/store/release_store.ts';
import { ReadinessReader } from '#modules/contacts/store/readiness_reader.ts';
import { IncidentLeaseStore, ResponderStore } from '#modules/agents/store/responder_store.ts';
import { RestorationStore } from '#modules/notifications/store/restoration_store.ts';
import { RuleSearch } from '#modules/rules/store/rule_search.ts';
import { ScheduleStore } from '#modules/schedules/store/schedule_store.ts';
import { SecondFactorStore } from '#modules/accounts/store/second_factor_store.ts';
import { SessionOutcomeStore } from '#modules/exceptions/store/session_outcome_store.ts';
import { ServiceStore } from '#modules/services/store/service_store.ts';
import { QuarantinedJobStore } from '#storage/postgres/quarantined_job_store.ts';
import { QuarantinedEventStore } from '#modules/exceptions/store/quarantined_event_store.ts';
import { SetupReader } from '#modules/home/store.ts';
import { SourceMapStore } from '#modules/releases/store/source_map_store.ts';
import { SpooledDataStore } from '#storage/postgres/spooled_data_store.ts';
import { SessionStore } from '#modules/accounts/store/session_store.ts';
import { SignInLimitStore } from '#modules/accounts/store/sign_in_limit_store.ts';
import { PublicationStore, StatusPageStore } from '#modules/status_pages/store/status_page_store.ts';
import { UnreadableRowStore } from '#modules/unreadable_rows/store.ts';
import { SubscriberStore } from '#modules/status_pages/store/subscriber_store.ts';
import { StepTimerStore } from '#modules/incidents/store/step_timer_store.ts';
import { StormStore } from '#modules/incidents/store/storm_store.ts';
import { TeamStore } from '#modules/teams/store.ts';
import { WorkerStore } from '#storage/postgres/worker_store.ts';

const STORES = {
  people: PeopleStore,
  sessions: SessionStore,
  secondFactors: SecondFactorStore,
  signInLimits: SignInLimitStore,
  openId: OpenIdStore,
  invitations: InvitationStore,
  passwordResets: PasswordResetStore,
  addressProofs: AddressProofStore,
  apiKeys: ApiKeyStore,
  provisioning: ProvisioningStore,
  scimGroups: ScimGroupStore,
  connections: ConnectionStore,
  oauthRecords: OAuthRecordStore,
  services: ServiceStore,
  capabilities: CapabilityStore,
  ingestKeys: IngestKeyStore,
  ingestRefusals: IngestRefusalStore,
  metricTypes: MetricTypeStore,
  latePoints: LatePointsStore,
  sentItems: SentItemStore,
  sessionOutcomes: SessionOutcomeStore,
  eventExtras: EventExtraStore,
  exceptionSettings: ExceptionSettingsStore,
  load: LoadReader,
  monitors: MonitorStore,
  checkIns: CheckInStore,
  alertKeys: AlertKeyStore,
  alertSources: AlertSourceStore,
  alertRoutes: AlertRouteStore,
  alerts: AlertStore,
  quarantinedEvents: QuarantinedEventStore,
  quarantinedJobs: QuarantinedJobStore,
  dashboards: DashboardStore,
  configuration: ConfigurationStore,
  exceptionGroups: ExceptionGroupStore,
  exceptionSearch: ExceptionGroupSearch,
  exceptionCounts: ExceptionCountStore,
  releases: ReleaseStore,
  artifacts: ArtifactStore,
  sourceMaps: SourceMapStore,
  groupKeys: GroupKeyStore,
  groupMerges: GroupMergeStore,
  groupReleases: GroupReleaseStore,
  groupRates: GroupRateStore,
  groupAssignments: GroupAssignmentStore,
  issueTrackers: IssueTrackerStore,
  groupActivity: GroupActivityStore,
  groupSnoozes: GroupSnoozeStore,
  groupWatchers: GroupWatcherStore,
  savedSearches: SavedSearchStore,
  messageTemplates: MessageTemplateStore,
  teams: TeamStore,
  schedules: ScheduleStore,
  calendarFeeds: CalendarFeedStore,
  ownCalendars: OwnCalendarStore,
  holidayCalendars: HolidayCalendarStore,
  onCall: OnCallReader,
  places: PlaceStore,
  placeDeliveries: PlaceDeliveryStore,
  chatAccounts: ChatAccountStore,
  statusPages: StatusPageStore,
  unreadableRows: UnreadableRowStore,
  publications: PublicationStore,
  subscribers: SubscriberStore,
  policies: PolicyStore,
  alertRules: AlertRuleStore,
  activeRules: ActiveRuleStore,
  ruleMemory: RuleMemoryStore,
  ruleSearch: RuleSearch,
  maintenance: MaintenanceStore,
  incidents: IncidentStore,
  suppression: SuppressionStore,
  timeline: IncidentTimelineStore,
  incidentSearch: IncidentSearch,
  incidentNotes: IncidentNoteStore,
  incidentContext: IncidentContextReader,
  incidentResponse: IncidentResponseStore,
  search: SearchReader,
  incidentLeases: IncidentLeaseStore,
  proposals: ProposalStore,
  objectNames: ObjectNameReader,
  responders: ResponderStore,
  stepTimers: StepTimerStore,
  shadow: ShadowStore,
  storms: StormStore,
  notifications: NotificationStore,
  deliveries: DeliveryStore,
  digests: DigestStore,
  pagerSigns: PagerSignsReader,
  spooledData: SpooledDataStore,
  inboundMessages: InboundMessageStore,
  endedCalls: EndedCallStore,
  phoneNumbers: PhoneNumberStore,
  replyNumbers: ReplyNumberStore,
  pushSubscriptions: PushSubscriptionStore,
  readiness: ReadinessReader,
  leases: LeaseStore,
  workers: WorkerStore,
  tokenBuckets: TokenBucketStore,
  durableJobs: DurableJobStore,
  restorations: RestorationStore,
  outbox: OutboxStore,
  audit: AuditStore,
  auditLog: AuditReader,
  auditChain: AuditChainReader,
  auditStreams: AuditStreamStore,
  moveIns: MoveInStore,
  numberCampaigns: NumberCampaignStore,
  changes: ChangeReader,
  setup: SetupReader,
};

/** The stores over one session: what they change commits or vanishes together. */
export type Stores = { readonly [Name in keyof typeof STORES]: InstanceType<(typeof STORES)[Name]> };

/** Makes a store when it is asked for: there are a hundred, of which a request needs a few. */
class SessionStores {
  readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }

  static {
    for (const [name, Store] of Object.entries(STORES)) {
      Object.defineProperty(this.prototype, name, {
        get(this: SessionStores) {
          return new Store(this.session);
        },
      });
    }
  }
}

export function storesOf(session: Session): Stores {
  return new SessionStores(session) as SessionStores & Stores;
}

/** One transaction: what is done through it commits together, and the jobs it asks for run only after the commit. */
export interface UnitOfWork {
  readonly now: Temporal.Instant;
  readonly stores: Stores;
  /** Enqueues a job once the transaction has committed, at `runAt` or at once. */
  enqueue<Payload extends TObject>(job: JobContract<Payload>, payload: Static<Payload>, runAt?: Temporal.Instant): void;
  /** Counts that somebody has reached a limit; `who` is never a secret. */
  limitReached(limit: LimitName, who: string): void;
}

export interface UnitOfWorkRuntime {
  readonly db: Database;
  readonly clock: Clock;
  /** Called after a commit that left jobs in the outbox. */
  readonly onOutbox: () => void;
  /** Undefined where nobody counts, as on the command line. */
  readonly reachedLimits?: Pick<ReachedLimits, 'record'>;
}

export async function inUnitOfWork<Result>(
  runtime: UnitOfWorkRuntime,
  work: (unit: UnitOfWork, session: Session) => Promise<Result>,
): Promise<Result> {
  const now = runtime.clock.now();
  const { result, hasJobs } = await runtime.db.transaction(async (session) => {
    const stores = storesOf(session);
    const jobs: { jobName: string; payload: unknown; runAt: Temporal.Instant | null }[] = [];
    const unit: UnitOfWork = {
      now,
      stores,
      limitReached: (limit, who) => runtime.reachedLimits?.record(limit, who),
      enqueue: (job, payload, runAt) => {
        jobs.push({ jobName: job.name, payload: toStored(job, payload), runAt: runAt ?? null });
      },
    };
    const result = await work(unit, session);
    await stores.outbox.insert(jobs, now);
    return { result, hasJobs: jobs.length > 0 };
  });
  if (hasJobs) runtime.onOutbox();
  return result;
}
