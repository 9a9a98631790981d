import { editRetention } from '#modules/services/operations/edit_retention.ts';
import { editService } from '#modules/services/operations/edit_service.ts';
import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { getServiceActivity } from '#modules/services/operations/get_service_activity.ts';
import { getServiceHealth } from '#modules/services/operations/get_service_health.ts';
import { getServiceOnCall } from '#modules/services/operations/get_service_on_call.ts';
import { revealIngestKey } from '#modules/services/operations/reveal_ingest_key.ts';
import { searchServices } from '#modules/services/operations/search_services.ts';

/** Operations of the console on services. */
export const SERVICE_OPERATIONS = [
  revealIngestKey,
  editService,
  editRetention,
  searchServices,
  getServiceHealth,
  getServiceActivity,
  getServiceOnCall,
  getIngestStatus,
] as const;
