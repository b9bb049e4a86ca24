import type { z } from 'zod';
import { endpoints } from '../../crm/contract.ts';
import { readBodyDate } from './dates.ts';
import { answerPage } from './listing.ts';
import {
  type Crm,
  checkLeadReference,
  type Operation,
  readPathId,
  refuseReference,
  timestamp,
  wrapRecord,
} from './operation.ts';
import type { StoredOpportunity } from './records.ts';
import { checkShape, refuseField, requireFields } from './refusal.ts';

/** Operations of CRM External API Specification, "Opportunities". */

type OpportunityBody = z.output<typeof endpoints.updateOpportunity.body>;

export const listOpportunities: Operation = (crm, request) => {
  const query = checkShape(endpoints.listOpportunities.query, request.query);
  const search = request.query[crm.choices.searchParameter]?.toLowerCase();
  const {
    stage_id: stageId,
    lead_id: leadId,
    expected_close_after: after,
    expected_close_before: before,
  } = query;
  const items = crm.records.opportunities.live().filter((opportunity) => {
    const closeDate = opportunity.expected_close_date;
    return (
      (stageId === undefined || opportunity.stage_id === stageId) &&
      (leadId === undefined || opportunity.lead_id === leadId) &&
      (after === undefined || (closeDate !== null && closeDate >= after)) &&
      (before === undefined || (closeDate !== null && closeDate <= before)) &&
      (search === undefined || searchText(crm, opportunity).includes(search))
    );
  });
  const listing = { entity: 'opportunities', message: 'Opportunities retrieved', items };
  return answerPage(listing, query, crm.choices);
};

export const getOpportunity: Operation = (crm, request) => ({
  data: wrapRecord(crm, 'opportunity', crm.records.opportunities.get(readPathId(crm, request))),
});

export const createOpportunity: Operation = (crm, request) => {
  requireFields(request.body, crm.choices.requiredOnCreate.opportunity);
  const body = readBody(crm, request.body);
  const { stage_id: stageId, lead_id: leadId } = body;
  // An opportunity is "always linked to a lead" and stands in a stage, whatever else is required.
  if (stageId === undefined) throw refuseField('stage_id', 'Required');
  if (leadId === undefined) throw refuseField('lead_id', 'Required');
  const note = crm.choices.createKeepsUnlistedFields ? (body.note ?? null) : null;
  const opportunity = crm.records.opportunities.add((id) => ({
    id,
    value: 0,
    confidence: 0,
    expected_close_date: null,
    ...body,
    stage_id: stageId,
    lead_id: leadId,
    note,
    created_at: timestamp(request),
  }));
  return { data: { id: opportunity.id } };
};

export const updateOpportunity: Operation = (crm, request) => {
  const opportunity = crm.records.opportunities.get(readPathId(crm, request));
  const updated: StoredOpportunity = { ...opportunity, ...readBody(crm, request.body) };
  crm.records.opportunities.replace(updated);
  const message = 'Opportunity updated';
  switch (crm.choices.opportunityUpdateAnswer) {
    case 'record':
      return { message, data: wrapRecord(crm, 'opportunity', updated) };
    case 'id':
      return { message, data: { id: updated.id } };
    case 'none':
      return { message };
  }
};

export const deleteOpportunity: Operation = (crm, request) => {
  crm.records.opportunities.trash(readPathId(crm, request));
  return {};
};

/** @throws Refusal for a stage or lead that does not exist and for an impossible date. */
function readBody(crm: Crm, input: unknown): OpportunityBody {
  const body = checkShape(endpoints.updateOpportunity.body, input);
  checkLeadReference(crm, body.lead_id ?? null);
  checkStageReference(crm, body.stage_id);
  if (body.expected_close_date === undefined) return body;
  return { ...body, expected_close_date: readBodyDate('expected_close_date', body.expected_close_date) };
}

function checkStageReference(crm: Crm, stageId: number | undefined): void {
  const stages = crm.records.pipelines.flatMap((pipeline) => pipeline.stages);
  if (stageId !== undefined && !stages.some((stage) => stage.id === stageId)) {
    throw refuseReference(crm, 'stage_id', stageId);
  }
}

function searchText(crm: Crm, opportunity: StoredOpportunity): string {
  const lead = crm.records.leads.find(opportunity.lead_id);
  return `${opportunity.note ?? ''}\n${lead?.title ?? ''}`.toLowerCase();
}
