/** The words that the sandbox's records are made of. All people and companies are invented. */

export const firstNames = [
  'Anna',
  'Jürgen',
  'Zoë',
  'Mateusz',
  'Chloé',
  'Søren',
  'Ngọc',
  'Íñigo',
  'Ayşe',
  'Piotr',
  'Leïla',
  'Björn',
  'Marta',
  'Owen',
  'Priya',
  'Kenji',
  'Fatima',
  'Luca',
  'Ines',
  'Tomáš',
  'Nia',
  'Oskar',
  'Elif',
  'Hannah',
] as const;

export const lastNames = [
  'Müller',
  'Nowak',
  'Garnier',
  'O’Connor',
  'Øster',
  'Sánchez',
  'Yılmaz',
  'Lindqvist',
  'Řezníček',
  'Okafor',
  'Weiß',
  'Tanaka',
  'Haddad',
  'Moretti',
  'Kowalczyk',
  'Patel',
  'Bergström',
  'Dubois',
  'Schäfer',
  'Walsh',
] as const;

export const companyNames = [
  'Nordlicht',
  'Blue Harbour',
  'Café Müßiggang',
  'Atelier Chênevert',
  'Kürbis & Kern',
  'Solarwerk Süd',
  'Fjordhus',
  'Brightwater',
  'Pixelschmiede',
  'Hafen 21',
  'Mañana Travel',
  'Oak & Ember',
  'Zahnarzt am Platz',
  'Velo Zürich',
  'Studio Łódź',
  'Green Lane',
  'Casa Azul',
  'Tailwind Logistics',
  'Weingut Rebstöckl',
  'Sunday Bakery',
  'Möbel Krüger',
  'Lumen Eyewear',
  'Yoga Loft',
  'Kleine Brauerei',
] as const;

export const companyForms = [
  'GmbH',
  'Ltd',
  'AG',
  'S.à r.l.',
  'Sp. z o.o.',
  'Studio',
  '& Co. KG',
  'Inc.',
  '',
] as const;

/** Titles that have to survive a sheet unharmed: formulas, leading zeros, phone numbers, other scripts. */
export const awkwardTitles = [
  '=1+1',
  '007',
  '+49 30 1234567',
  '株式会社さくらデザイン',
  '서울 스튜디오 💡',
  'Bäckerei „Zum Löwen“ 🥨',
  '2026-03-01',
  'Smith, "Bob" & Söhne <info@example.com>',
  '50%',
  'TRUE',
  'مخبز الياسمين',
  "'quoted",
] as const;

export const descriptions = [
  'Relaunch of the website and a new shop',
  'Wants a quote for the yearly SEO retainer',
  'Met at the trade fair in Köln, asked for references',
  'Two locations, third one planned;\nneeds booking online',
  'Rebranding incl. logo, façade & menus',
  'Referred by an existing client 🙂',
] as const;

export const opportunityNotes = [
  'Website relaunch',
  'SEO retainer, 12 months',
  'Brand workshop',
  'Shop migration – phase 2',
  'Photo shoot & social media',
  'Accessibility audit',
  'Newsletter set-up',
  'Budget to be confirmed in Q3',
] as const;

export const taskTitles = [
  'Call back about the offer',
  'Send contract',
  'Prepare kick-off',
  'Check invoice',
  'Collect logo files',
  'Write proposal',
  'Book meeting room',
  'Review first draft',
  'Fix contact form',
  'Ask for a testimonial',
  'Renew domain',
  'Überweisung prüfen',
  'Plan photo shoot 📷',
  'Set up analytics',
  'Translate landing page',
] as const;

export const taskDescriptions = [
  'They prefer mornings.',
  'Use the long template.',
  'See the notes of the last meeting.\nAsk Priya if unclear.',
] as const;

export const cities = [
  'Berlin',
  'Zürich',
  'Lyon',
  'København',
  'Kraków',
  'San Sebastián',
  '東京',
  'Dublin',
] as const;

export const avatars = ['🚀', '🌿', '🏗️', '☕', '🎨', '⚓'] as const;
