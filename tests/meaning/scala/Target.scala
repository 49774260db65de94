package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{UnresolvedAttribute, UnresolvedRelation}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.meaning.Evaluator.{row, values}
import org.apache.spark.sql.types.{DataType, LongType}

/** The table that a statement changes. */
final class Target(session: Session, name: String) {
  val stored: Relation = session.table(name)
  val columns: Seq[Attribute] = stored.output

  /** A value as store assignment under ANSI casts it to the type of its column, with or without ANSI mode. */
  def assigned(value: Any, from: DataType, to: Attribute): Any =
    if (from == to.dataType) value
    else Cast(Literal(value, from), to.dataType, Some("UTC"), EvalMode.ANSI).eval()

  /** The place of the column, and the value that it is assigned. */
  def assignment(found: Assignment): (Int, Expression) = found match {
    case Assignment(UnresolvedAttribute(parts), value) =>
      val place = columns.indexWhere(_.name.equalsIgnoreCase(parts.last))
      if (place < 0) throw new NoSuchElementException(s"$name has no column ${parts.last}")
      place -> value
  }
}

object Target {
  /** The relation with the number of each row as its last column, which no name can reach. */
  def numbered(relation: Relation): Relation = {
    val output = relation.output.map(_.newInstance()) :+ AttributeReference(s"#${NamedExpression.newExprId.id}", LongType, false)()
    Relation(output, relation.rows.zipWithIndex.map { case (r, i) => row(values(r, relation.output) :+ i.toLong) })
  }
}

/** UPDATE and DELETE: the values are evaluated for the rows that meet the condition and no others. */
final class Rewriting(session: Session, target: LogicalPlan, condition: Expression, assignments: Seq[Assignment], deletes: Boolean) {
  private val SubqueryAlias(alias, UnresolvedRelation(Seq(name), _, _)) = target
  private val table = new Target(session, name)
  import table.{assigned, assignment, columns, stored}

  /** Changes the target and says how many rows it touched. */
  def run(): Int = {
    val targets = Target.numbered(stored)
    val values = assignments.map(assignment)
    val named = values.zipWithIndex.map { case ((_, value), i) => Alias(value, s"value_$i")() }
    val found = session.evaluated(Project(targets.output.last +: named, Filter(condition, SubqueryAlias(alias, targets))))
    val touched = found.rows.map(r => r.getLong(0).toInt -> Evaluator.values(r, found.output).tail).toMap
    stored.content.rows = stored.rows.zipWithIndex.flatMap { case (old, i) =>
      touched.get(i).fold(Option(old)) { cells => if (deletes) None else Some(rewritten(old, values.map(_._1), cells, found)) }
    }
    touched.size
  }

  private def rewritten(old: InternalRow, places: Seq[Int], cells: Seq[Any], found: Relation): InternalRow =
    row(places.zip(cells).zipWithIndex.foldLeft(values(old, columns)) { case (kept, ((place, cell), i)) =>
      kept.updated(place, assigned(cell, found.output(i + 1).dataType, columns(place)))
    })
}
