import { addStatusUpdate } from '#modules/status_pages/operations/add_status_update.ts';
import { createStatusPage } from '#modules/status_pages/operations/create_status_page.ts';
import { deleteStatusPage } from '#modules/status_pages/operations/delete_status_page.ts';
import { listPublications } from '#modules/status_pages/operations/list_publications.ts';
import { listStatusPages } from '#modules/status_pages/operations/list_status_pages.ts';
import { publishIncident } from '#modules/status_pages/operations/publish_incident.ts';
import { retractPublication } from '#modules/status_pages/operations/retract_publication.ts';
import { updateStatusPage } from '#modules/status_pages/operations/update_status_page.ts';

/** Operations of the console on status pages and what is published on them. */
export const STATUS_PAGE_OPERATIONS = [
  listStatusPages,
  createStatusPage,
  updateStatusPage,
  deleteStatusPage,
  listPublications,
  publishIncident,
  addStatusUpdate,
  retractPublication,
] as const;
