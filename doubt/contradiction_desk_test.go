package doubt_test

import "testing"

// desk is a database of a fourth trade: names in two letter cases, marks of Y and N, dates in texts, minutes beside
// hours.
const desk = `
CREATE TABLE Users (UserId INTEGER PRIMARY KEY, FullName TEXT NOT NULL, Department TEXT NOT NULL, Country TEXT, IsActive TEXT NOT NULL,
	CreatedDate TEXT NOT NULL, ManagerId INTEGER REFERENCES Users(UserId));
CREATE TABLE Tickets (TicketId INTEGER PRIMARY KEY, Title TEXT NOT NULL, Priority TEXT NOT NULL, Status TEXT NOT NULL,
	OpenedDate TEXT NOT NULL, ClosedDate TEXT, AssigneeId INTEGER REFERENCES Users(UserId),
 RequesterId INTEGER NOT NULL REFERENCES Users(UserId), EstimatedHours REAL, SpentMinutes INTEGER, Reopened INTEGER NOT NULL);
CREATE TABLE Comments (CommentId INTEGER PRIMARY KEY, TicketId INTEGER NOT NULL REFERENCES Tickets(TicketId),
	AuthorId INTEGER NOT NULL REFERENCES Users(UserId), WrittenDate TEXT NOT NULL, Words INTEGER);
CREATE TABLE Assets (AssetId INTEGER PRIMARY KEY, Kind TEXT NOT NULL, SerialNo TEXT NOT NULL UNIQUE, PurchasedDate TEXT NOT NULL,
	Price REAL NOT NULL, RetiredDate TEXT, OwnerId INTEGER REFERENCES Users(UserId));
INSERT INTO Users VALUES (1,'Ann Lee','Sales','Germany','Y','2020-01-05',NULL),(2,'Bob Ray','IT','France','Y','2021-02-01',NULL),
	(3,'Cid Fox','IT','Germany','N','2019-07-01',2),(4,'Dee Kay','Support',NULL,'Y','2023-10-10',2),
	(5,'Eve Poe','Sales','France','Y','2024-03-03',1),(6,'Ann Lee','Legal','Germany','Y','2022-06-06',NULL);
INSERT INTO Tickets VALUES (1,'VPN','high','closed','2024-01-02','2024-01-05',2,1,4,300,0),
	(2,'Mouse','low','closed','2024-02-10','2024-02-10',3,5,0.5,20,0),(3,'Mail','urgent','open','2024-05-20',NULL,2,1,2,90,1),
	(4,'Screen','medium','waiting','2024-06-03',NULL,NULL,4,1,NULL,0),
(5,'Login','high','closed','2023-12-30','2024-01-15',4,5,3,400,1),(6,'Print','low','open','2024-06-14',NULL,4,6,NULL,10,0),
	(7,'VPN','high','rejected','2023-11-11','2023-11-12',2,3,1,15,0);
INSERT INTO Comments VALUES (1,1,1,'2024-01-03',20),(2,1,2,'2024-01-04',35),(3,3,1,'2024-05-21',12),(4,5,4,'2024-01-10',NULL),(5,3,2,'2024-06-01',50);
INSERT INTO Assets VALUES (1,'laptop','A1','2021-05-01',1200,NULL,1),(2,'laptop','A2','2019-03-01',900,'2023-01-01',3),
	(3,'phone','B1','2024-01-20',650,NULL,2),(4,'monitor','C1','2022-11-11',200,NULL,NULL),(5,'laptop','A3','2024-02-02',1500,NULL,5);`

// TestRightAnswersOfADesk: a right answer has no contradiction.
func TestRightAnswersOfADesk(t *testing.T) {
	said := sayings(t, desk)
	for _, tt := range [][2]string{
		{"How many tickets are open?", "SELECT count(*) FROM Tickets WHERE Status = 'open'"},
		{"How many tickets are not closed?", "SELECT count(*) FROM Tickets WHERE ClosedDate IS NULL"},
		{"tickets still waiting for an assignee", "SELECT TicketId, Title FROM Tickets WHERE AssigneeId IS NULL"},
		{"urgent or high priority tickets", "SELECT Title FROM Tickets WHERE Priority IN ('urgent', 'high')"},
		{"high priority tickets opened in January 2024",
			"SELECT Title FROM Tickets WHERE Priority = 'high' AND OpenedDate LIKE '2024-01%'"},
		{"tickets closed in January 2024", "SELECT Title FROM Tickets WHERE ClosedDate >= '2024-01-01' " +
			"AND ClosedDate < '2024-02-01'"},
		{"tickets closed within 3 days", "SELECT Title FROM Tickets WHERE julianday(ClosedDate) - julianday(OpenedDate) <= " +
			"3"},
		{"tickets that took more than a week to close",
			"SELECT Title FROM Tickets WHERE julianday(ClosedDate) - julianday(OpenedDate) > 7"},
		{"average days to close by priority",
			"SELECT Priority, avg(julianday(ClosedDate) - julianday(OpenedDate)) FROM Tickets WHERE ClosedDate IS NOT NULL " +
				"GROUP BY Priority"},
		{"tickets per assignee", "SELECT u.FullName, count(*) FROM Tickets t JOIN Users u ON u.UserId = t.AssigneeId " +
			"GROUP BY u.UserId, u.FullName"},
		{"who closed the most tickets?",
			"SELECT u.FullName FROM Tickets t JOIN Users u ON u.UserId = t.AssigneeId WHERE t.Status = 'closed' " +
				"GROUP BY u.UserId, u.FullName ORDER " +
				"BY count(*) DESC LIMIT 1"},
		{"users who never opened a ticket", "SELECT FullName FROM Users WHERE UserId NOT IN (SELECT RequesterId " +
			"FROM Tickets)"},
		{"inactive users", "SELECT FullName FROM Users WHERE IsActive = 'N'"},
		{"active users in Germany", "SELECT FullName FROM Users WHERE IsActive = 'Y' AND Country = 'Germany'"},
		{"users by country, unknown ones too", "SELECT Country, count(*) FROM Users GROUP BY Country"},
		{"IT staff and their managers", "SELECT u.FullName, m.FullName FROM Users u LEFT JOIN Users m " +
			"ON m.UserId = u.ManagerId WHERE u.Department = 'IT'"},
		{"departments with more than one person", "SELECT Department FROM Users GROUP BY Department HAVING count(*) > 1"},
		{"hours spent per ticket", "SELECT TicketId, SpentMinutes / 60.0 FROM Tickets"},
		{"total hours spent in 2024", "SELECT sum(SpentMinutes) / 60.0 FROM Tickets WHERE OpenedDate >= '2024-01-01'"},
		{"tickets that took longer than estimated", "SELECT Title FROM Tickets WHERE SpentMinutes > EstimatedHours * 60"},
		{"tickets over 2 hours", "SELECT Title FROM Tickets WHERE SpentMinutes > 120"},
		{"reopened tickets", "SELECT Title FROM Tickets WHERE Reopened = 1"},
		{"share of tickets that were reopened", "SELECT 100.0 * sum(Reopened) / count(*) FROM Tickets"},
		{"comments per ticket, also tickets without comments",
			"SELECT t.TicketId, count(c.CommentId) FROM Tickets t LEFT JOIN Comments c ON c.TicketId = t.TicketId " +
				"GROUP BY t.TicketId"},
		{"tickets nobody commented on", "SELECT Title FROM Tickets t WHERE NOT EXISTS (SELECT 1 FROM Comments c " +
			"WHERE c.TicketId = t.TicketId)"},
		{"last comment of each ticket", "SELECT TicketId, max(WrittenDate) FROM Comments GROUP BY TicketId"},
		{"how many different people commented?", "SELECT count(DISTINCT AuthorId) FROM Comments"},
		{"how many words did Bob Ray write?", "SELECT sum(c.Words) FROM Comments c JOIN Users u ON u.UserId = c.AuthorId " +
			"WHERE u.FullName = 'Bob Ray'"},
		{"laptops bought since 2021", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' AND PurchasedDate >= '2021-01-01'"},
		{"retired laptops", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' AND RetiredDate IS NOT NULL"},
		{"laptops in use", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' AND RetiredDate IS NULL"},
		{"the two most expensive assets", "SELECT Kind, SerialNo FROM Assets ORDER BY Price DESC LIMIT 2"},
		{"oldest laptop still in use", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' AND RetiredDate IS NULL " +
			"ORDER BY PurchasedDate LIMIT 1"},
		{"value of all assets by kind, highest first",
			"SELECT Kind, sum(Price) AS v FROM Assets WHERE RetiredDate IS NULL GROUP BY Kind ORDER BY v DESC"},
		{"assets without an owner", "SELECT SerialNo FROM Assets WHERE OwnerId IS NULL"},
		{"assets of people in sales", "SELECT a.SerialNo FROM Assets a JOIN Users u ON u.UserId = a.OwnerId " +
			"WHERE u.Department = 'Sales'"},
		{"users who own both a laptop and a phone",
			"SELECT u.FullName FROM Users u WHERE EXISTS (SELECT 1 FROM Assets a WHERE a.OwnerId = u.UserId " +
				"AND a.Kind = 'laptop') AND EXISTS (SELECT " +
				"1 FROM Assets a WHERE a.OwnerId = u.UserId AND a.Kind = 'phone')"},
		{"assets between 500 and 1000", "SELECT SerialNo FROM Assets WHERE Price BETWEEN 500 AND 1000"},
		{"tickets opened last month", "SELECT count(*) FROM Tickets WHERE OpenedDate >= '2024-05-01' " +
			"AND OpenedDate < '2024-06-01'"},
		{"tickets opened in the first two weeks of June 2024",
			"SELECT count(*) FROM Tickets WHERE OpenedDate BETWEEN '2024-06-01' AND '2024-06-14'"},
		{"tickets opened on a weekend", "SELECT Title FROM Tickets WHERE strftime('%w', OpenedDate) IN ('0', '6')"},
		{"tickets opened per month, last 12 months",
			"SELECT strftime('%Y-%m', OpenedDate) AS m, count(*) FROM Tickets WHERE OpenedDate >= '2023-06-15' GROUP BY m"},
		{"how old is the oldest open ticket in days?",
			"SELECT max(julianday('2024-06-15') - julianday(OpenedDate)) FROM Tickets WHERE Status = 'open'"},
		{"users created before 2021", "SELECT FullName FROM Users WHERE CreatedDate < '2021-01-01'"},
		{"users who joined in 2023 or 2024", "SELECT FullName FROM Users WHERE CreatedDate >= '2023-01-01' " +
			"AND CreatedDate < '2025-01-01'"},
		{"everybody called Ann Lee", "SELECT UserId, FullName, Department FROM Users WHERE FullName = 'Ann Lee'"},
		{"titles that were used more than once", "SELECT Title FROM Tickets GROUP BY Title HAVING count(*) > 1"},
		{"requester and assignee of ticket 3",
			"SELECT r.FullName, a.FullName FROM Tickets t JOIN Users r ON r.UserId = t.RequesterId LEFT JOIN Users a " +
				"ON a.UserId = t.AssigneeId WHERE " +
				"t.TicketId = 3"},
		{"tickets people opened for themselves", "SELECT Title FROM Tickets WHERE AssigneeId = RequesterId"},
		{"open tickets from newest to oldest", "SELECT Title FROM Tickets WHERE Status = 'open' ORDER BY OpenedDate DESC"},
		{"is the number of tickets going up?", "SELECT strftime('%Y-%m', OpenedDate) AS m, count(*) FROM Tickets " +
			"GROUP BY m ORDER BY m"},
		{"tickets by priority, most urgent first",
			"SELECT Title, Priority FROM Tickets ORDER BY CASE Priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' " +
				"THEN 2 ELSE 3 END"},
	} {
		for _, line := range said(tt[0], tt[1]) {
			t.Errorf("%s\n   %s\n   %s", tt[0], tt[1], line)
		}
	}
}

// TestPlantedFaultsOfADesk: one fault each that a careful reader sees.
func TestPlantedFaultsOfADesk(t *testing.T) {
	said := sayings(t, desk)
	for _, tt := range [][2]string{
		{"How many tickets are open?", "SELECT count(*) FROM Tickets WHERE Status = 'closed'"},
		{"How many tickets are not closed?", "SELECT count(*) FROM Tickets WHERE ClosedDate IS NOT NULL"},
		{"tickets without an assignee", "SELECT TicketId, Title FROM Tickets WHERE AssigneeId IS NOT NULL"},
		{"urgent or high priority tickets", "SELECT Title FROM Tickets WHERE Priority = 'urgent'"},
		{"high priority tickets opened in January 2024", "SELECT Title FROM Tickets WHERE OpenedDate LIKE '2024-01%'"},
		{"high priority tickets opened in January 2024",
			"SELECT Title FROM Tickets WHERE Priority = 'high' AND OpenedDate LIKE '2024-02%'"},
		{"tickets closed in January 2024", "SELECT Title FROM Tickets WHERE OpenedDate >= '2024-01-01' " +
			"AND OpenedDate < '2024-02-01'"},
		{"tickets closed within 3 days", "SELECT Title FROM Tickets WHERE julianday(ClosedDate) - julianday(OpenedDate) <= " +
			"30"},
		{"average days to close by priority",
			"SELECT Status, avg(julianday(ClosedDate) - julianday(OpenedDate)) FROM Tickets WHERE ClosedDate IS NOT NULL " +
				"GROUP BY Status"},
		{"tickets per assignee", "SELECT u.FullName, count(*) FROM Tickets t JOIN Users u ON u.UserId = t.RequesterId " +
			"GROUP BY u.UserId, u.FullName"},
		{"tickets per assignee", "SELECT count(*) FROM Tickets t JOIN Users u ON u.UserId = t.AssigneeId"},
		{"who closed the most tickets?",
			"SELECT u.FullName FROM Tickets t JOIN Users u ON u.UserId = t.AssigneeId WHERE t.Status = 'closed' " +
				"GROUP BY u.UserId, u.FullName ORDER " +
				"BY count(*) LIMIT 1"},
		{"users who never opened a ticket", "SELECT DISTINCT u.FullName FROM Users u JOIN Tickets t " +
			"ON t.RequesterId = u.UserId"},
		{"inactive users", "SELECT FullName FROM Users WHERE IsActive = 'Y'"},
		{"active users in Germany", "SELECT FullName FROM Users WHERE IsActive = 'Y' AND Country = 'France'"},
		{"active users in Germany", "SELECT FullName FROM Users WHERE IsActive = 'N' AND Country = 'Germany'"},
		{"IT staff and their managers", "SELECT u.FullName, m.FullName FROM Users u JOIN Users m ON m.UserId = u.ManagerId " +
			"WHERE u.Department = 'Sales'"},
		{"all users and their managers", "SELECT u.FullName, m.FullName FROM Users u JOIN Users m ON m.UserId = u.ManagerId"},
		{"departments with more than one person", "SELECT Department FROM Users GROUP BY Department HAVING count(*) >= 1"},
		{"hours spent per ticket", "SELECT TicketId, SpentMinutes FROM Tickets"},
		{"total hours spent in 2024", "SELECT sum(SpentMinutes) / 60.0 FROM Tickets"},
		{"tickets over 2 hours", "SELECT Title FROM Tickets WHERE SpentMinutes > 2"},
		{"reopened tickets", "SELECT Title FROM Tickets WHERE Reopened = 0"},
		{"comments per ticket, also tickets without comments",
			"SELECT t.TicketId, count(*) FROM Tickets t LEFT JOIN Comments c ON c.TicketId = t.TicketId GROUP BY t.TicketId"},
		{"comments per ticket, also tickets without comments",
			"SELECT t.TicketId, count(*) FROM Tickets t JOIN Comments c ON c.TicketId = t.TicketId GROUP BY t.TicketId"},
		{"tickets nobody commented on", "SELECT DISTINCT t.Title FROM Tickets t JOIN Comments c ON c.TicketId = t.TicketId"},
		{"last comment of each ticket", "SELECT TicketId, min(WrittenDate) FROM Comments GROUP BY TicketId"},
		{"how many different people commented?", "SELECT count(AuthorId) FROM Comments"},
		{"how many users commented?", "SELECT count(*) FROM Comments"},
		{"how many tickets have a comment?", "SELECT count(*) FROM Tickets t JOIN Comments c ON c.TicketId = t.TicketId"},
		{"how many words did Bob Ray write?", "SELECT sum(c.Words) FROM Comments c JOIN Users u ON u.UserId = c.AuthorId " +
			"WHERE u.FullName = 'Ann Lee'"},
		{"laptops bought since 2021", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' AND PurchasedDate >= '2023-01-01'"},
		{"laptops bought since 2021", "SELECT SerialNo FROM Assets WHERE PurchasedDate >= '2021-01-01'"},
		{"retired laptops", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' AND RetiredDate IS NULL"},
		{"the two most expensive assets", "SELECT Kind, SerialNo FROM Assets ORDER BY Price LIMIT 2"},
		{"the two most expensive assets", "SELECT Kind, SerialNo FROM Assets ORDER BY Price DESC LIMIT 5"},
		{"oldest laptop", "SELECT SerialNo FROM Assets WHERE Kind = 'laptop' ORDER BY PurchasedDate DESC LIMIT 1"},
		{"value of all assets by kind, highest first", "SELECT Kind, sum(Price) AS v FROM Assets GROUP BY Kind ORDER BY v"},
		{"average price by kind", "SELECT Kind, max(Price) FROM Assets GROUP BY Kind"},
		{"assets of people in sales", "SELECT a.SerialNo FROM Assets a JOIN Users u ON u.UserId = a.OwnerId " +
			"WHERE u.Department = 'IT'"},
		{"assets of people in sales", "SELECT a.SerialNo FROM Assets a JOIN Users u ON u.UserId = a.AssetId " +
			"WHERE u.Department = 'Sales'"},
		{"users who own both a laptop and a phone",
			"SELECT u.FullName FROM Users u JOIN Assets a ON a.OwnerId = u.UserId WHERE a.Kind = 'laptop' OR a.Kind = 'phone'"},
		{"assets between 500 and 1000", "SELECT SerialNo FROM Assets WHERE Price BETWEEN 500 AND 10000"},
		{"assets cheaper than 500", "SELECT SerialNo FROM Assets WHERE Price > 500"},
		{"tickets opened last month", "SELECT count(*) FROM Tickets WHERE OpenedDate >= '2024-04-01' " +
			"AND OpenedDate < '2024-05-01'"},
		{"tickets opened in the first half of 2024",
			"SELECT count(*) FROM Tickets WHERE OpenedDate >= '2024-07-01' AND OpenedDate < '2025-01-01'"},
		{"tickets opened per month in 2024", "SELECT strftime('%Y', OpenedDate) AS m, count(*) FROM Tickets " +
			"WHERE OpenedDate >= '2024-01-01' GROUP BY m"},
		{"users created before 2021", "SELECT FullName FROM Users WHERE CreatedDate >= '2021-01-01'"},
		{"users who joined in 2023 or 2024", "SELECT FullName FROM Users WHERE CreatedDate >= '2024-01-01'"},
		{"tickets requested by Ann Lee", "SELECT t.Title FROM Tickets t JOIN Users u ON u.UserId = t.AssigneeId " +
			"WHERE u.FullName = 'Ann Lee'"},
		{"titles that were used more than twice", "SELECT Title FROM Tickets GROUP BY Title HAVING count(*) >= 2"},
		{"open tickets from newest to oldest", "SELECT Title FROM Tickets WHERE Status = 'open' ORDER BY OpenedDate"},
		{"how many laptops and how many phones do we have?", "SELECT count(*) FROM Assets WHERE Kind IN ('laptop', 'phone')"},
		{"number of users per department and country", "SELECT Department, count(*) FROM Users GROUP BY Department"},
		{"tickets without a comment from their requester",
			"SELECT DISTINCT t.Title FROM Tickets t JOIN Comments c ON c.TicketId = t.TicketId AND c.AuthorId = t.RequesterId"},
		{"tickets closed after 10 January 2024", "SELECT Title FROM Tickets WHERE ClosedDate < '2024-01-10'"},
		{"tickets of the past week", "SELECT Title FROM Tickets WHERE OpenedDate >= '2024-05-15'"},
	} {
		if found := said(tt[0], tt[1]); len(found) == 0 {
			t.Errorf("no contradiction is found: %s\n   %s", tt[0], tt[1])
		}
	}
}
