import { editRetention } from '#modules/services/operations/set_retention.ts';
import { editService, setServiceTeam } from '#modules/services/operations/update_service.ts';
import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import {
  getServiceActivity,
  getServiceHealth,
  getServiceOnCall,
} from '#modules/services/operations/service_overview.ts';
import { revealIngestKey } from '#modules/services/operations/rotate_ingest_key.ts';
import { searchServices } from '#modules/services/operations/list_services.ts';

export const SERVICE_OPERATIONS = [
  revealIngestKey,
  editService,
  setServiceTeam,
  editRetention,
  searchServices,
  getServiceHealth,
  getServiceActivity,
  getServiceOnCall,
  getIngestStatus,
] as const;
