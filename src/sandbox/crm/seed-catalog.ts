import type { CustomFieldDefinition, Pipeline } from '../../crm/contract.ts';
import type { Member, StoredLeadStatus } from './records.ts';

/**
 * The reference data of the sandbox's agency. Stages of different pipelines share names on purpose: only the
 * id tells them apart.
 */

export const seedPipelines: readonly Pipeline[] = [
  {
    id: 1,
    name: 'New business',
    stages: [
      { id: 11, name: 'Qualified', order_index: 0, tag_name: 'active' },
      { id: 12, name: 'Proposal sent', order_index: 1, tag_name: 'active' },
      { id: 13, name: 'Negotiation', order_index: 2, tag_name: 'active' },
      { id: 14, name: 'Won', order_index: 3, tag_name: 'won' },
    ],
  },
  {
    id: 2,
    name: 'Upsell & renewals',
    stages: [
      { id: 21, name: 'Qualified', order_index: 0, tag_name: 'active' },
      { id: 22, name: 'Offer / terms', order_index: 1, tag_name: 'active' },
      { id: 23, name: 'Won', order_index: 2, tag_name: 'won' },
    ],
  },
  {
    id: 3,
    name: 'Partner-Empfehlungen',
    stages: [
      { id: 31, name: 'Erstgespräch', order_index: 0, tag_name: 'active' },
      { id: 32, name: 'Angebot', order_index: 1, tag_name: 'active' },
      { id: 33, name: 'Won', order_index: 2, tag_name: 'won' },
    ],
  },
];

export const seedLeadStatuses: readonly StoredLeadStatus[] = [
  { id: 1, name: 'new', label: 'New', color: '#5b8def', is_default: true, sort_order: 1 },
  { id: 2, name: 'contacted', label: 'Contacted', color: '#c9a227', is_default: false, sort_order: 2 },
  { id: 3, name: 'qualified', label: 'Qualified', color: '#3fa66b', is_default: false, sort_order: 3 },
  {
    id: 4,
    name: 'in-negotiation',
    label: 'In negotiation',
    color: '#a35bd6',
    is_default: false,
    sort_order: 4,
  },
  { id: 5, name: 'customer', label: 'Customer', color: '#1f8a70', is_default: false, sort_order: 5 },
  { id: 6, name: 'lost', label: 'Lost', color: '#9aa0a6', is_default: false, sort_order: 6 },
];

export const seedMembers: readonly Member[] = [
  { id: '9001', name: 'Mara Stein' },
  { id: '9002', name: 'João Pereira' },
  { id: '9003', name: 'Ewa Zielińska' },
  { id: '9004', name: 'Tariq Aziz' },
];

const plain = { options: null, is_active: true };

export const seedCustomFields: readonly CustomFieldDefinition[] = [
  { id: 501, name: 'City', field_key: 'city', type: 'text', order: 1, ...plain },
  { id: 502, name: 'Phone', field_key: 'phone', type: 'text', order: 2, ...plain },
  { id: 503, name: 'Yearly budget (€)', field_key: 'yearly_budget', type: 'number', order: 3, ...plain },
  { id: 504, name: 'Newsletter', field_key: 'newsletter', type: 'boolean', order: 4, ...plain },
  { id: 505, name: 'First contact', field_key: 'first_contact', type: 'date', order: 5, ...plain },
  {
    id: 506,
    name: 'Source',
    field_key: 'source',
    type: 'select',
    order: 6,
    options: [
      { id: 1, name: 'Referral' },
      { id: 2, name: 'Website' },
      { id: 3, name: 'Trade fair' },
      { id: 4, name: 'Cold call' },
    ],
    is_active: true,
  },
  {
    id: 507,
    name: 'Services',
    field_key: 'services',
    type: 'multi-select',
    order: 7,
    options: [
      { id: 1, name: 'Web design' },
      { id: 2, name: 'SEO' },
      { id: 3, name: 'Branding' },
      { id: 4, name: 'Print, packaging' },
    ],
    is_active: true,
  },
  { id: 508, name: 'Account manager', field_key: 'account_manager', type: 'user-select', order: 8, ...plain },
  { id: 509, name: 'Team', field_key: 'team', type: 'user-multi-select', order: 9, ...plain },
  {
    id: 510,
    name: 'Old customer number',
    field_key: 'old_number',
    type: 'text',
    order: 10,
    options: null,
    is_active: false,
  },
];
