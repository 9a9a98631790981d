import { createAuditStream } from '#modules/audit/operations/create_audit_stream.ts';
import { deleteAuditStream } from '#modules/audit/operations/delete_audit_stream.ts';
import { listAuditStreams } from '#modules/audit/operations/list_audit_streams.ts';
import { updateAuditStream } from '#modules/audit/operations/update_audit_stream.ts';

/** Operations of the console on streams of the audit log. */
export const AUDIT_STREAM_OPERATIONS = [
  listAuditStreams,
  createAuditStream,
  updateAuditStream,
  deleteAuditStream,
] as const;
