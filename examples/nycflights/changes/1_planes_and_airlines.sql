-- Two airlines change their names.
update nycflights.airlines set name = 'Alaska Airlines' where carrier = 'AS';
update nycflights.airlines set name = 'Frontier' where carrier = 'F9';

-- The register of planes is put right: one manufacturer under two names, seats of a refitted model, an unknown year.
update nycflights.planes set manufacturer = 'MCDONNELL DOUGLAS' where manufacturer = 'MCDONNELL DOUGLAS CORPORATION';
update nycflights.planes set seats = seats + 6 where model = 'A319-114';
update nycflights.planes set year = 1999 where year is null and manufacturer = 'AIRBUS INDUSTRIE';
