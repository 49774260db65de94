package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.{Inner, LeftAnti}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.meaning.Evaluator.{row, values}

/** Two rows of the source for one of the target. */
final class CollisionException extends RuntimeException("a MERGE with two source rows for one target row")

/** MERGE as Delta means it, over relations in memory: from Spark's own parse of the statement to the target's new rows.
  *
  * The source is evaluated once. Conditions are tried in the order of the clauses, and the values of a clause are evaluated for
  * the rows on which it fires and no others. Values are cast to the stored columns as store assignment under ANSI casts them, with
  * or without ANSI mode. Columns that an INSERT does not name are NULL.
  */
final class Merging(session: Session, statement: MergeIntoTable) {
  private val SubqueryAlias(alias, UnresolvedRelation(Seq(target), _, _)) = statement.targetTable
  private val SubqueryAlias(sourceAlias, query) = statement.sourceTable
  private val table = new Target(session, target)
  import table.{assigned, assignment, columns, stored}

  /** A clause: its condition, and the column → value that it assigns; no values for DELETE. */
  private case class Clause(condition: Expression, deletes: Boolean, assigned: Seq[(Int, Expression)])

  /** Changes the target and says how many rows it touched. */
  def run(): Int = {
    if (statement.notMatchedBySourceActions.nonEmpty) throw new UnsupportedOperationException("WHEN NOT MATCHED BY SOURCE")
    val source = Target.numbered(session.evaluated(query))
    val targets = Target.numbered(stored)
    val clauses = statement.matchedActions.map(clause)
    val fired = matched(targets, source, clauses)
    val inserted = notMatched(targets, source, statement.notMatchedActions.map(clause))
    val kept = stored.rows.zipWithIndex.flatMap { case (old, i) => fired.get(i).fold(Option(old))(_._2) }
    stored.content.rows = kept ++ inserted
    fired.size + inserted.size
  }

  /** Place of a target row → the number of its source row, and what becomes of it: None if it is deleted. */
  private def matched(targets: Relation, source: Relation, clauses: Seq[Clause]): Map[Int, (Long, Option[InternalRow])] = {
    val join = Join(SubqueryAlias(alias, targets), SubqueryAlias(sourceAlias, source), Inner, Some(statement.mergeCondition),
      JoinHint.NONE)
    val pairs = session.evaluated(Project(Seq(targets.output.last, source.output.last) ++ choices(clauses), join))
    val one = clauses.size == 1 && clauses.head.deletes && clauses.head.condition == Literal.TrueLiteral
    val found = pairs.rows.map(r => r.getLong(0).toInt)
    if (clauses.nonEmpty && !one && found.distinct.size < found.size) throw new CollisionException
    pairs.rows.flatMap { pair =>
      val place = pair.getLong(0).toInt
      chosen(pairs.output.drop(2), clauses, values(pair, pairs.output).drop(2), values(stored.rows(place), columns))
        .map(row => place -> (pair.getLong(1), row))
    }.toMap
  }

  private def notMatched(targets: Relation, source: Relation, clauses: Seq[Clause]): IndexedSeq[InternalRow] =
    if (clauses.isEmpty) IndexedSeq() else {
      val join = Join(SubqueryAlias(sourceAlias, source), SubqueryAlias(alias, targets), LeftAnti, Some(statement.mergeCondition),
        JoinHint.NONE)
      val found = session.evaluated(Project(choices(clauses), join))
      found.rows.flatMap(r => chosen(found.output, clauses, values(r, found.output), columns.map(_ => null)).map(_.get))
    }

  /** The number of the clause that fires, and for each clause its values where it does. */
  private def choices(clauses: Seq[Clause]): Seq[NamedExpression] = {
    val number = CaseWhen(clauses.zipWithIndex.map { case (each, i) => each.condition -> Literal(i) }, Literal(-1))
    val assigned = clauses.zipWithIndex.flatMap { case (each, i) =>
      val before = clauses.take(i).map(_.condition -> Literal(null))
      each.assigned.map { case (_, value) => CaseWhen(before :+ (each.condition -> value)) }
    }
    (number +: assigned).zipWithIndex.map { case (each, i) => Alias(each, s"choice_$i")() }
  }

  /** The row that the clause which fires makes of `old`: Some(None) if it is deleted; None if no clause fires. */
  private def chosen(output: Seq[Attribute], clauses: Seq[Clause], found: Seq[Any], old: Seq[Any]): Option[Option[InternalRow]] = {
    val number = found.head.asInstanceOf[Int]
    if (number < 0) None
    else if (clauses(number).deletes) Some(None)
    else {
      val first = 1 + clauses.take(number).map(_.assigned.size).sum
      val changed = clauses(number).assigned.zipWithIndex.map { case ((place, _), i) =>
        place -> assigned(found(first + i), output(first + i).dataType, columns(place))
      }
      Some(Some(row(changed.foldLeft(old) { case (cells, (place, value)) => cells.updated(place, value) })))
    }
  }

  private def clause(action: MergeAction): Clause = {
    val condition = action.condition.getOrElse(Literal.TrueLiteral)
    action match {
      case _: DeleteAction => Clause(condition, deletes = true, Seq())
      case UpdateAction(_, assignments, _) => Clause(condition, deletes = false, assignments.map(assignment))
      case InsertAction(_, assignments) => Clause(condition, deletes = false, assignments.map(assignment))
      case other => throw new UnsupportedOperationException(s"no MERGE clause $other")
    }
  }
}
